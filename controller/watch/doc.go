// Package watch decides, while a JVM is sampled for hours, when something happens that is worth
// keeping, and keeps it: rules ([Rule], [Engine]), the folder of a watched process ([Folder]),
// captures ([Capture]), and reports of any piece of the time that was kept ([Report]).
//
// Rules are judged by what they are told and by the times that come with it: there is no clock
// in here, so they can be tested with made-up hours. Samples are uncertain: a rule on shares holds
// only where that is beyond chance (three standard errors).
//
// An Engine is not safe for concurrent use.
package watch
