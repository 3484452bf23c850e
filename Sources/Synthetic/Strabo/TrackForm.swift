/// The forms of a Strabo capture.
enum TrackForm: String, CaseIterable {
  /// A movie; tokens of 64 digits, paths that include the token's folder.
  case v1
  /// A still picture.
  case v1Still = "v1-still"
  /// A movie of the first months: tokens of 32 digits, file names only.
  case v0

  var isStill: Bool { self == .v1Still }

  /// The generation's name in a reader's result.
  var generation: String { self == .v0 ? "v0" : "v1" }
}
