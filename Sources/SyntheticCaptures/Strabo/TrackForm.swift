/// The forms of a Strabo capture.
enum TrackForm: String, CaseIterable {
  /// A movie; tokens of 64 digits, files named below the token.
  case v1
  /// A still picture.
  case v1Still = "v1-still"
  /// A movie of the first months: tokens of 32 digits, bare file names.
  case v0

  var isStill: Bool { self == .v1Still }

  /// What a reader calls the generation.
  var generation: String { self == .v0 ? "v0" : "v1" }
}
