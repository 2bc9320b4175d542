;; A shop in Clojure, root work$order.invokeStatic. Clojure calls through vars and
;; the interface IFn, without invokedynamic. Each counted function counts itself.
;; Argument: the number of roots (0: until a line comes).
(ns work
  (:import (java.util TreeMap)
           (java.util.concurrent CountDownLatch TimeUnit)))

(def ^TreeMap calls (TreeMap.))

(defn hit [method]
  (.merge calls method 1 (reify java.util.function.BiFunction (apply [_ a b] (+ a b)))))

(defprotocol Shape (area [this] [this by]))

(deftype Square []
  Shape
  (area [_] (hit "work.Square.area()*") 4)
  (area [_ by] (hit "work.Square.area(Ljava/lang/Object;)*") (* 4 by)))

(defrecord Circle [radius]
  Shape
  (area [_] (hit "work.Circle.area()*") (* 3 radius))
  (area [_ by] (hit "work.Circle.area(Ljava/lang/Object;)*") (* 3 radius by)))

(extend-protocol Shape
  String
  (area ([this] (hit "work$eval#$fn__#.invoke") (count this))
        ([this by] (hit "work$eval#$fn__#.invoke") (* by (count this)))))

(defn insert [cart x] (hit "work$insert.invokeStatic") (conj cart x))
(defn total [cart] (hit "work$total.invokeStatic") (reduce + cart))
(defn tax [x] (hit "work$tax.invokeStatic") (quot x 5))
(defn fast ^long [^long x] (hit "work$fast.invokeStatic") (* 3 x))
(defn variadic [a & more] (hit "work$variadic.doInvoke") (+ a (count more)))
(defn recursive [n] (hit "work$recursive.invokeStatic") (if (zero? n) 0 (inc (recursive (dec n)))))
(def either "work$changing.invokeStatic|work$changed.invokeStatic")
(defn changing [x] (hit either) x)
(defn changed [x] (hit either) x)
(def versions [changing changed])

(defmulti price (fn [x] (hit "work$eval#$fn__#.invoke") (:kind x)))
(defmethod price :book [x] (hit "work$eval#$fn__#.invoke") (:cents x))
(defmethod price :default [_] (hit "work$eval#$fn__#.invoke") 1)

(def closures "work$order$fn__#.invoke")

(defn order []
  (hit "work$order.invokeStatic")
  (let [cart (reduce insert [] (range 20))
        taxes (map (fn [x] (hit closures) (tax x)) cart)
        shapes [(Square.) (->Circle 2) "four" (Square.)]
        lazy (lazy-seq (hit closures) [1 2 3])
        squares (into [] (comp (map (fn [x] (hit closures) (* x x)))
                               (filter (fn [x] (hit closures) (odd? x)))) cart)
        runner (reify Callable (call [_] (hit "work$order$reify__#.call") 7))]
    (+ (total cart) (reduce + taxes) (fast 4)
       (reduce + (map area shapes)) (area (first shapes) 2) (area "ab" 3)
       (price {:kind :book :cents 5}) (price {:kind :pen})
       (count squares) (reduce + lazy) (.call ^Callable runner)
       (variadic 1 2 3) (apply variadic [1 2]) (recursive 5) (changing 2)
       (.area ^work.Circle (second shapes))
       (count (sort-by (fn [x] (hit closures) (- x)) [3 1 2])))))

(defn -main [most]
  (let [done (CountDownLatch. 1)
        root (fn [] (order))
        again (if (zero? most)
                (fn [_] (not (.await done 4 TimeUnit/MILLISECONDS)))
                (fn [n] (< n most)))]
    (when (zero? most)
      (doto (Thread. (fn [] (.read System/in) (.countDown done))) (.setDaemon true) (.start))
      (dotimes [_ 300] (root)))
    (println "PID" (.pid (java.lang.ProcessHandle/current)))
    (println "READY")
    (loop [n (if (zero? most) 300 0)]
      (if (again n)
        (do (root)
            (when (zero? (mod n 7)) (alter-var-root #'changing (constantly (versions (mod n 2)))))
            (recur (inc n)))
        (do (.put calls "work$hit.invokeStatic" (reduce + (vals calls)))
            (doseq [[method n] calls] (println "COUNT" method n))
            (println "ROOTS" n))))))

(-main (Long/parseLong (or (first *command-line-args*) "0")))
