/// A fault of a Record3D recording.
typealias RecordFault = PlannedFault<RecordForm, RecordPlan>

enum RecordFaults {
  static let all: [RecordFault] =
    color + depth + confidence + metadata + times + poses + intrinsics + archive

  private static let color = [
    RecordFault("missing-frames", "pictures", "frames 4 and 5 have no files") {
      for frame in [4, 5] {
        $0.color.edits[frame] = .absent
        $0.depth.edits[frame] = .absent
        $0.confidence.edits[frame] = .absent
      }
    },
    RecordFault("color-hole", "color", "the color file of frame 6 is not there") {
      $0.color.edits[6] = .absent
    },
    RecordFault("empty-color", "color", "a color file of no bytes") {
      $0.color.edits[3] = .empty
    },
    RecordFault("cut-color", "color", "half a color file") { $0.color.edits[7] = .cut },
    RecordFault("color-size", "color", "a color file of half the size") {
      $0.color.edits[8] = .otherSize
    },
    RecordFault("missing-color", "color", "no color") { $0.color.isAbsent = true },
  ]

  private static let depth = [
    RecordFault("depth-hole", "depth", "the depth file of frame 3 is not there") {
      $0.depth.edits[3] = .absent
    },
    RecordFault("empty-depth", "depth", "a depth file of no bytes") {
      $0.depth.edits[5] = .empty
    },
    RecordFault("cut-depth", "depth", "half a depth file") { $0.depth.edits[6] = .cut },
    RecordFault("depth-size", "depth", "a depth file of half the size") {
      $0.depth.edits[7] = .otherSize
    },
    RecordFault("missing-depth", "depth", "no depth") { $0.depth.isAbsent = true },
    RecordFault(
      "raw-copies", "compression", "values are stored without compression; no warning",
      in: { $0 != .exr }
    ) {
      $0.isRaw = true
    },
    RecordFault(
      "infinite-depth", "depth values", "depth of frame 2 has infinite and negative values"
    ) {
      $0.nonFiniteFrame = 2
    },
    RecordFault("far-number", "numbers", "a depth file has a number that no recording has") {
      $0.depth.hasFarNumber = true
    },
  ]

  private static let confidence = [
    RecordFault(
      "confidence-hole", "confidence", "the confidence file of frame 5 is not there",
      in: \.hasConfidence
    ) {
      $0.confidence.edits[5] = .absent
    },
    RecordFault(
      "empty-confidence", "confidence", "a confidence file of no bytes", in: \.hasConfidence
    ) {
      $0.confidence.edits[3] = .empty
    },
    RecordFault("cut-confidence", "confidence", "half a confidence file", in: \.hasConfidence) {
      $0.confidence.edits[8] = .cut
    },
    RecordFault(
      "missing-confidence", "confidence", "no confidence; no warning", in: \.hasConfidence
    ) {
      $0.confidence.isAbsent = true
    },
  ]

  private static let metadata = [
    RecordFault("missing-metadata", "metadata", "no metadata", in: { $0 != .exr }) {
      $0.metadata = .absent
    },
    RecordFault("cut-metadata", "metadata", "half the metadata", in: { $0 != .exr }) {
      $0.metadata = .cut
    },
    RecordFault("old-metadata", "metadata", "the depth size is not stated; no warning") {
      $0.statesDepthSize = false
    },
  ]

  private static let times = [
    RecordFault("missing-times", "times", "no times") { $0.times = .absent },
    RecordFault("few-times", "times", "the last two frames have no time") { $0.times = .short },
    RecordFault("gap", "times", "three camera frames are dropped in the middle") {
      $0.gap = (afterFrame: $0.frames / 2, frames: 3)
    },
    RecordFault("swapped-times", "times", "two neighboring times are exchanged") {
      $0.swappedFrame = $0.frames / 2
    },
    RecordFault("equal-times", "times", "two neighboring frames have one time") {
      $0.repeatedTimeFrame = $0.frames / 2
    },
  ]

  private static let poses = [
    RecordFault("face-id", "poses", "recorded by the front camera, without poses; no warning") {
      $0.tracking = .faceID
    },
    RecordFault("no-tracking", "poses", "all poses are the identity") { $0.tracking = .lost },
    RecordFault("zero-pose", "poses", "the rotation of pose 5 is zero") { $0.zeroPoseFrame = 5 },
    RecordFault("pose-jump", "poses", "tracking relocalizes 1.8 m away") {
      $0.poseJumpFrame = $0.frames / 2
    },
  ]

  private static let intrinsics = [
    RecordFault("one-camera", "intrinsics", "only the first frame's intrinsics; no warning") {
      $0.intrinsics = .ofRecording
    },
    RecordFault("row-major", "intrinsics", "the matrix is stored row by row; no warning") {
      $0.intrinsics = .rowMajor
    },
    RecordFault("missing-intrinsics", "intrinsics", "no intrinsics", in: { $0 != .exr }) {
      $0.intrinsics = .absent
    },
  ]

  private static let archive = [
    RecordFault(
      "cut-archive", "archive end", "a copy that ends in the depth of the last frame but one",
      in: { $0 == .r3d }
    ) {
      $0.archiveEnd = .inDepth
      $0.depth.edits[$0.frames - 2] = .absent
      $0.confidence.edits[$0.frames - 2] = .absent
      $0.color.edits[$0.frames - 1] = .absent
      $0.depth.edits[$0.frames - 1] = .absent
      $0.confidence.edits[$0.frames - 1] = .absent
    },
    RecordFault(
      "cut-archive-metadata", "archive end", "a copy that ends in the metadata, which come last",
      in: { $0 == .r3d }
    ) {
      $0.archiveEnd = .inMetadata
    },
    RecordFault(
      "hostile-names", "archive", "three names lead out of the archive", in: { $0 == .r3d }
    ) {
      $0.hasHostileNames = true
    },
    RecordFault(
      "doubled-entry", "archive", "the color of frame 2 is there twice", in: { $0 == .r3d }
    ) {
      $0.doubledFrame = 2
    },
    RecordFault(
      "wrong-checksum", "archive", "the checksum of a depth entry is wrong", in: { $0 == .r3d }
    ) {
      $0.wrongChecksumFrame = 6
    },
  ]
}

/// The exports of Record3D that have one file per picture.
enum RecordForm: String, CaseIterable {
  /// One ZIP file.
  case r3d
  /// An unpacked `.r3d`.
  case folder = "r3d-folder"
  /// "EXR + JPG".
  case exr

  var metadataName: String { self == .exr ? "metadata.json" : "metadata" }
  var colorFolder: String { self == .exr ? "rgb" : "rgbd" }
  var depthFolder: String { self == .exr ? "depth" : "rgbd" }
  var depthEnding: String { self == .exr ? "exr" : "depth" }
  var hasConfidence: Bool { self != .exr }
}
