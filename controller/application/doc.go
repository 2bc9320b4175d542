// Package application tells a program's own methods from those of the frameworks that
// it stands on, and folds the frameworks' levels in a calling context tree.
//
// Nobody can know for certain which classes are the application's. What a person says
// ([Rules] of packages) holds. Without it the methods of a documented list of frameworks,
// of reflection and of generated classes are the frameworks', and all others the
// application's: what the list lacks is shown, never hidden. The JDK's methods, native
// ones and those without a name belong to whoever calls them.
//
// A [View] is a tree for reading, in which levels of frameworks that lead to the
// application are put into one node. Nothing of the figures is lost: a node's total stays,
// and what the levels took themselves is the node's own. Trees that go in stay as they are.
//
// [Rules] and their answers are safe for concurrent use, a [View] is, too.
package application
