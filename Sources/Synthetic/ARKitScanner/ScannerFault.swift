extension ARKitScannerFamily {
  static let plannedFaults: [Fault] = records + depthFile + streams + sides

  private static let records = [
    Fault("empty-record", "records", "depth record 3 has length 0", in: \.isFramed) {
      $0.recordEdits[3] = .empty
    },
    Fault("corrupt-record", "records", "depth record 6 is noise", in: \.isFramed) {
      $0.recordEdits[6] = .noise
    },
    Fault("short-record", "records", "depth record 8 decodes to too few pixels", in: \.isFramed) {
      $0.recordEdits[8] = .short
    },
    Fault(
      "bv41-record", "records", "depth record 5 has Apple's other LZ4 framing",
      in: { $0.depthLayout == .lz4 }
    ) {
      $0.recordEdits[5] = .otherFraming
    },
    Fault(
      "mixed-encodings", "records", "depth record 4 holds float meters among millimeters",
      in: { $0.depthLayout == .lz4 }
    ) {
      $0.recordEdits[4] = .otherEncoding
    },
    Fault(
      "missing-record", "records", "depth record 4 was never written; later ones moved up",
      in: \.isFramed
    ) {
      $0.recordEdits[4] = .absent
    },
  ]

  private static let depthFile = [
    Fault("cut-depth", "depth end", "the depth file breaks off in its last frame") {
      $0.endsInRecord = true
    },
    Fault(
      "trailing-bytes", "depth end", "3 bytes follow the last depth frame",
      in: { $0.isFramed || $0 == .g1 }
    ) {
      $0.trailingBytes = 3
    },
    Fault(
      "deflate-lookalike", "depth start",
      "the first record's length makes the file begin like an empty DEFLATE stream; no warning",
      in: { $0.depthLayout == .lz4 }
    ) {
      $0.looksLikeDeflate = true
    },
    Fault(
      "nan-depth", "depth values", "depth frame 2 holds NaN, infinities, negative and huge values",
      in: \.storesMeters
    ) {
      $0.nonFiniteFrame = 2
    },
  ]

  private static let streams = [
    Fault("surplus-picture", "video", "one picture more than entries") {
      $0.surplusPictures = 1
    },
    Fault("missing-video", "video", "no video file") { $0.hasVideo = false },
    Fault(
      "killed-app", "depth end", "depth cut, exif.json open, video without index, nothing else",
      in: { $0 == .g6 }
    ) {
      $0.isKilled = true
      $0.endsInRecord = true
    },
    .gap("three", 3, in: \.hasTimes),
  ]

  private static let sides = [
    .poseJump(),
    Fault("nan-pose", "poses", "a number of pose 5 is nan", in: \.hasJSONSides) {
      $0.nanPoseFrame = 5
    },
    Fault("imu-empty", "imu", "no motion samples were recorded", in: \.hasJSONSides) {
      $0.hasMotion = false
    },
    Fault("exif-holes", "exif", "two frames have an empty exif entry; no warning", in: \.hasExif) {
      $0.emptyExif = [2, 7]
    },
    Fault(
      "wrong-color-size", "metadata", "the metadata claim pictures of twice the size",
      in: \.hasJSONSides
    ) {
      $0.declaredColorScale = 2
    },
    Fault(
      "strange-depth-size", "metadata", "the metadata's depth size is no number", in: \.hasJSONSides
    ) {
      $0.hasStrangeDepthSize = true
    },
  ]
}
