import Core
import SystemPackage

extension MultiScanCapture {
  /// Warns of missing files that the metadata declares or the mode always writes.
  func warnOfMissingFiles() {
    let metadata = contents.metadata
    if metadata == nil, contents.metadataProblem == nil {
      let why = contents.emptyMetadata.map { "\(PathText.shown($0)) is empty" }
      warnings.add(
        .missingFile, "metadata",
        "\(why ?? "no readable metadata"); the mode is determined from the files")
    }
    for (role, subject) in Self.declaredRoles {
      let declared = metadata?.streams.count { $0.role == role } ?? 0
      let isEmpty = role == .cameraInfo && hasEmptyCameraInfo
      warnings.add(
        .missingFile, subject, count: min(declared, role == .color ? 2 : 1) - fileCount(of: role),
        "the metadata declares \(subject), but the file is \(isEmpty ? "empty" : "missing")")
    }
    if contents.generation.writesMotion {
      if contents.files.motion.isEmpty {
        warnings.add(.imuMissing, "imu", "none of the five motion files is there")
      } else {
        for kind in MultiScanMotionKind.allCases where contents.files.motion[kind] == nil {
          warnings.add(.missingFile, "\(kind)", "no motion file .\(kind)")
        }
      }
    }
    if contents.hasNoIntrinsics {
      warnings.add(.calibrationMissing, "color", "no intrinsics are recorded anywhere")
    }
  }

  private static var declaredRoles: [(MultiScanRole, String)] {
    [(.color, "color"), (.depth, "depth"), (.confidence, "confidence"), (.cameraInfo, "poses")]
  }

  private var hasEmptyCameraInfo: Bool {
    guard contents.files.cameraInfo != nil, case .absent = contents.cameraInfo else { return false }
    return true
  }

  private func fileCount(of role: MultiScanRole) -> Int {
    let files = contents.files
    let candidates: [String?] =
      switch role {
      case .color: [files.video, files.primaryVideo, files.secondaryVideo]
      case .depth: [files.depth]
      case .confidence: [files.confidence]
      case .cameraInfo: [hasEmptyCameraInfo ? nil : files.cameraInfo]
      case .motion(let kind): [files.motion[kind]]
      }
    return candidates.count { $0 != nil }
  }

  /// The files from which each part was read, including those that determine its size, unit or
  /// pairing.
  var filesOfParts: [CapturePart: [FilePath]] {
    let files = contents.files
    let metadata = [contents.metadataFile]
    let info = [contents.generation.writesCameraInfo ? files.cameraInfo : nil]
    let video = [files.colorVideo(in: contents.generation)]
    let motion = MultiScanMotionKind.allCases.map { files.motion[$0] }
    let isARCore = contents.generation == .androidARCore
    // Copies at the end are found by comparing depth and lines.
    let pairing = isARCore ? [files.depth] + info + metadata : []
    let choosesTrack = (contents.color.value?.otherTracks ?? 0) > 0
    let constants =
      contents.constantIntrinsics == nil && contents.metadataProblem == nil ? [] : metadata
    let own: [CapturePart: (files: [String?], with: [String?])] = [
      .color: (video, choosesTrack ? metadata : []),
      .depth: ([files.depth], metadata + pairing),
      .confidence: ([files.confidence], metadata + pairing),
      .imu: (motion, metadata),
      .poses: (info, pairing),
      .intrinsics: (info + constants, video + pairing + metadata),
      .cameraSettings: (info, pairing),
      .geo: (
        contents.metadata?.position == nil && contents.metadataProblem == nil ? [] : metadata, []
      ),
      .frames: contents.generation.writesCameraInfo ? (info, pairing) : (video + motion, []),
      .calibration: (info + constants, video + pairing + metadata),
    ]
    return own.compactMapValues { own, with in
      guard own.contains(where: { $0 != nil }) else { return nil }
      return Set((own + with).compactMap(\.self)).sorted().map(files.path(of:))
    }
  }
}

extension MultiScanTables {
  /// Whether there are never intrinsics, as in Android's plain mode.
  fileprivate var hasNoIntrinsics: Bool {
    let inLines = cameraInfo.value?.lines.contains { $0?.intrinsics != nil } ?? false
    return generation == .androidPlain || !(inLines || metadata?.color?.intrinsics != nil)
  }
}
