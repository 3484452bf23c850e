/// A fault of a Strabo capture.
typealias TrackFault = PlannedFault<TrackForm, TrackPlan>

enum TrackFaults {
  static let all: [TrackFault] = points + files + info

  private static let points = [
    TrackFault("no-points", "points", "the list of points is empty") { $0.hasNoPoints = true },
    TrackFault(
      "no-fix", "points", "the first three points have no position", in: { !$0.isStill }
    ) {
      $0.pointsWithoutFix = 3
    },
    TrackFault(
      "stale-point", "first point", "a point of an earlier recording stands first",
      in: { !$0.isStill }
    ) {
      $0.hasStalePoint = true
    },
    TrackFault(
      "swapped-points", "point order", "two neighboring points are exchanged",
      in: { !$0.isStill }
    ) {
      $0.swapsPoints = true
    },
    TrackFault(
      "repeated-time", "point times", "two points have the same time", in: { !$0.isStill }
    ) {
      $0.repeatsPointTime = true
    },
    TrackFault(
      "invalid-headings", "headings", "some headings are negative or above 360; no warning",
      in: { !$0.isStill }
    ) {
      $0.hasInvalidHeadings = true
    },
    TrackFault(
      "north", "place", "headings swing across north, longitude crosses 180; no warning"
    ) {
      $0.crossesNorth = true
    },
    TrackFault("broken-points", "points", "the geo data are no JSON") { $0.isBrokenJSON = true },
  ]

  private static let files = [
    TrackFault("bad-paths", "paths", "all three file keys lead outside the capture") {
      $0.hasBadPaths = true
    },
    TrackFault("missing-media", "media", "no movie or picture") { $0.missingFiles.insert(.media) },
    TrackFault("empty-media", "media", "the movie or picture has no bytes") {
      $0.hasEmptyMedia = true
    },
    TrackFault("missing-points", "points", "no geo data file") {
      $0.missingFiles.insert(.geodata)
    },
    TrackFault("missing-thumbnail", "thumbnail", "no thumbnail") {
      $0.missingFiles.insert(.thumbnail)
    },
    TrackFault(
      "large-thumbnail", "thumbnail", "the app's thumbnail is too large", in: { !$0.isStill }
    ) {
      $0.hasLargeThumbnail = true
    },
    TrackFault("half-turn", "turn", "the movie is turned by half a turn; no warning") {
      $0.clockwiseQuarterTurns = 2
    },
    TrackFault("left-turn", "turn", "the movie is turned counter-clockwise; no warning") {
      $0.clockwiseQuarterTurns = 3
    },
    TrackFault("no-turn", "turn", "the movie is stored upright; no warning") {
      $0.clockwiseQuarterTurns = 0
    },
  ]

  private static let info = [
    TrackFault("unknown-key", "keys", "capture-info.json holds a key that nobody knows") {
      $0.extraKeys = ["battery"]
    },
    TrackFault("missing-type", "keys", "capture-info.json lacks media_type") {
      $0.lacksMediaType = true
    },
    TrackFault("missing-time", "time", "capture-info.json lacks created_at; no warning") {
      $0.lacksCreationTime = true
    },
  ]
}
