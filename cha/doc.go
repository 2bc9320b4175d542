// Package cha resolves calls in a running JVM by Class Hierarchy Analysis
// (Dean, Grove and Chambers, ECOOP '95): which methods can a call site reach,
// whatever object it meets.
//
// A [Hierarchy] holds a [ClassMirror] for each loaded class, identified by
// defining loader and name. [Hierarchy.Targets] follows JVMS §5.4.3
// (resolution), §5.4.5 (overriding) and §5.4.6 (selection) over the classes
// known at one [Hierarchy.Epoch]. A [Watch] turns the question round: it
// remembers calls and says what a class that comes later adds to them.
//
// # Guarantees
//
// Sound: every method that a represented call can select among the known
// classes is in the answer. Every known subtype of the call's owner, abstract
// classes and interfaces included, is taken for a possible receiver.
//
// Exact: when all supertypes of all classes are known, with their methods and
// without doubt about loaders, the answer is what the JVMS says of those
// receivers and nothing more, except that access checks are not made, and that
// a conflict of default methods, which throws, gives all that conflict.
//
// A lambda expression counts as a class that implements its interface and calls
// the lambda's body: see [Lambda]. So a call through an interface reaches the
// bodies of all lambdas of that type, whoever made the object.
//
// A class with a supertype that is not known yet, or known by name only in a
// loader that may prefer a class of its own, is loose: it may be a subtype of
// anything, so its virtual methods answer every call of their name and
// descriptor. A class is loose between its load hook, which may come before
// its superclass is loaded, and the moment its supertypes are known.
//
// # Limits
//
// Calls by reflection, by method handles that were looked up by name, and from
// native code are not represented; [Reflective] names the call sites that make
// them. A call of invokedynamic is represented by the method handles among its
// bootstrap arguments, and by a call of kind [Dynamic] that names the
// bootstrap method. Inlined constants leave no trace in the code and none here.
//
// A Hierarchy is not safe for concurrent use, not even by readers alone.
package cha
