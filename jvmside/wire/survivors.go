package wire

// Survivors are what "--count survivors" adds to "--count allocations". Some of the
// objects that a context allocates are followed, by weak references in a table of the
// agent's with a bounded number of places, until they are gone. What became of them is
// counted in a block of K_ words, four nodes, to which N_CACHE of the type's node leads.
// The thread that allocates and the agent's watch write it, both by atomic additions.
//
// An object that is followed stands for 2^level objects. The first [TrackFirst] objects of
// a node have level 0: all are followed. Of the following ones ever fewer are, at the most
// one of 2^H_TRACK less 1. An array of many bytes has a lower level.
//
// An age is a number of collections that an object has survived, and that the agent
// has noticed. Ages lie in [Ages] ranges: 0, 1, 2 to 3, 4 to 7, 8 to 15, 16 and more.
const (
	Ages       = 6
	TrackFirst = 32
	TrackTries = 8

	TrackNodes = 4 // nodes of a block of K_ words
)

// Words of the header.
const (
	HTrack       = 84
	HFollowing   = 88
	HLooking     = 1144
	HCollections = 1152
	HUntracked   = 1160
	HPlaces      = 1168
)

// Words of a block.
const (
	KTracked   = 0
	KSurvived  = 8
	KLive      = 16
	KLiveBytes = KLive + 8*Ages
	KGone      = KLiveBytes + 8*Ages
	KGoneBytes = KGone + 8*Ages
	KSquares   = KGoneBytes + 8*Ages
)

// Survivors is the part of the data file's table that following objects adds.
var Survivors = []Const{
	{"AGES", Ages, "ranges of ages: 0, 1, 2 to 3, 4 to 7, 8 to 15, 16 and more collections survived"},
	{"TRACK_FIRST", TrackFirst, "objects of a node that are all followed"},
	{"TRACK_TRIES", TrackTries, "places that are tried for an object; behind each one that is taken, half of the objects are given up, and the others stand for twice as many"},
	{"TRACK_NODES", TrackNodes, "nodes of a block of K_ words"},

	{"H_TRACK", HTrack, "u32: 0: no object is followed; else 1 more than the highest level of an object: it stands for 2^level"},
	{"H_FOLLOWING", HFollowing, "u32: places of the agent's table, 0 before there is one"},
	{"H_LOOKING", HLooking, "u32: 1 while the agent looks at what became of objects, and writes K_ words"},
	{"H_COLLECTIONS", HCollections, "i64: collections that it has noticed in this recording"},
	{"H_UNTRACKED", HUntracked, "i64: objects that are not followed, for want of a place"},
	{"H_PLACES", HPlaces, "i64: places of the table that were tried"},

	{"K_TRACKED", KTracked, "i64: objects that are followed, or were until they were gone"},
	{"K_SURVIVED", KSurvived, "i64: of those, the ones that have survived a collection"},
	{"K_LIVE", KLive, "i64[6]: by age, how many objects those stand for that are not known to be gone"},
	{"K_LIVE_BYTES", KLiveBytes, "i64[6]: of arrays their bytes"},
	{"K_GONE", KGone, "i64[6]: by the age that they reached, how many objects those stand for that are gone"},
	{"K_GONE_BYTES", KGoneBytes, "i64[6]: of arrays their bytes"},
	{"K_SQUARES", KSquares, "i64: of all these objects the squares of how many each stands for, summed"},
}
