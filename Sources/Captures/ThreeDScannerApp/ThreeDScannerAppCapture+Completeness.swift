import SystemPackage

extension ThreeDScannerAppCapture {
  /// The files from which each part was read.
  var filesOfParts: [CapturePart: [FilePath]] {
    let files = tables.files
    let rows = files.paths(.frame)
    let color = files.paths(.color)
    let info = files.hasInfo ? [files.path(ThreeDScannerAppFiles.infoName)] : []
    // The size of the pictures belongs to the intrinsics: that of the first readable one.
    let sized = tables.color.first.map { Array(color.prefix($0 + 1)) } ?? color
    let parts: [CapturePart: [FilePath]] = [
      .color: color,
      .depth: files.paths(.depth),
      .confidence: files.paths(.confidence),
      .frames: rows,
      .poses: rows,
      .intrinsics: rows + sized,
      .calibration: rows + sized,
      .cameraSettings: rows,
      .geo: rows + info,
    ]
    return parts.filter { !$0.value.isEmpty }
  }

  /// Names of missing files that are listed one by one.
  private static let mostNames = 1_000

  /// A frame file for every number, in exports with depth depth and confidence with each, and the
  /// description.
  var completeness: UploadCompleteness {
    var missing: [String] = []
    var absent: [String] = []
    var kinds: [ThreeDScannerAppFiles.Kind] = [.frame]
    if tables.files.generation == .lidar { kinds += [.depth, .confidence] }
    for kind in kinds {
      let there = Set(tables.files[kind].files.map(\.number))
      let lacking = frames.frames.indices.filter { !there.contains($0) }
      guard !lacking.isEmpty else { continue }
      missing.append("\(lacking.count) of \(Self.pattern(kind)) are not there.")
      absent += lacking.prefix(Self.mostNames).map(kind.name)
    }
    if !tables.files.hasInfo {
      missing.append("\(ThreeDScannerAppFiles.infoName) is not there.")
      absent.append(ThreeDScannerAppFiles.infoName)
    }
    return UploadCompleteness(missing: missing, absentFiles: absent)
  }

  /// Adds claims about stream lengths.
  func claim(_ capture: inout Capture) {
    capture.claims.add(
      "poses", held: tables.rowFileCount, declared: tables.info?.declaredFrames, by: "numImages")
    let streams: [(stream: String, kind: ThreeDScannerAppFiles.Kind, noun: String)] =
      switch tables.files.generation {
      case .lidar:
        [
          ("poses", .frame, "the frame files"), ("depth", .depth, "the depth files"),
          ("confidence", .confidence, "the confidence files"),
        ]
      case .highResolution:
        [("poses", .frame, "the frame files"), ("color", .color, "the pictures")]
      }
    capture.claims.addNumbered(
      streams.map { stream, kind, noun in
        let files = tables.files[kind]
        return (stream, files.files.count, files.numberCount, noun)
      })
  }
}
