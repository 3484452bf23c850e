import Core
import SystemPackage

extension ARKitScannerCapture {
  /// Missing files with keys and settings that this generation writes when the recording is
  /// stopped. Motion has a warning of its own.
  var missingSideFiles: [String] {
    let folder = contents.folder
    let generation = contents.generation
    if folder.isRelease {
      return [ARKitScannerFiles.releasePoses].filter { !folder.has($0) }
    }
    if folder.usesPropertyLists {
      return [("_trans.xml", "trans.xml"), ("_offset.txt", "offset.txt")]
        .filter { folder.files(endingIn: $0.0).isEmpty }.map(\.1)
        + (folder.has("intri.xml") ? [] : ["intri.xml"])
    }
    var names = ["metadata.json", "trans.json"]
    if generation.writesIntrinsicsFile { names.append("intri.json") }
    names.append("offset.json")
    return names.filter { !folder.has($0) }
  }

  /// Whether this looks like a finished upload.
  func completeness() -> UploadCompleteness {
    let folder = contents.folder
    var missing = missingSideFiles.map { "\($0) \(folder.lack(of: $0))." }
    if !folder.isRelease, !folder.usesPropertyLists, !folder.has("imu.json") {
      missing.append("imu.json \(folder.lack(of: "imu.json")).")
    }
    if contents.generation.writesExif, !folder.has("exif.json") {
      missing.append("exif.json is not there.")
    }
    missing += sidecars.cutParts.sorted { $0.rawValue < $1.rawValue }.map {
      "\(sidecars.files[$0]?.first ?? $0.rawValue) is cut at its end."
    }
    if sidecars.exifIsOpen { missing.append("exif.json is not closed.") }
    switch contents.video {
    case .absent: missing.append("The video is not there.")
    case .unreadable(let error): missing.append(Self.sentence(error))
    case .present(let video) where video.endsEarly:
      missing.append("\(video.name) is cut at its end.")
    case .present: break
    }
    switch contents.depth {
    case .absent: missing.append("The depth file is not there.")
    case .unreadable(let error): missing.append(Self.sentence(error))
    case .present(let depth) where depth.isCut: missing.append("\(depth.name) is cut at its end.")
    case .present: break
    }
    let errors = [
      contents.metadata.error, sidecars.poses.error, sidecars.matrices.error,
      sidecars.offsets.error,
      sidecars.motion.error,
    ]
    return UploadCompleteness(
      missing: missing + errors.compactMap(\.self).map(Self.sentence), absentFiles: absentFiles)
  }

  /// Missing files among video, depth, poses, and from `g2b` on the metadata, by this generation's
  /// names.
  private var absentFiles: [String] {
    let folder = contents.folder
    let generation = contents.generation
    var absent: [String] = []
    if folder.videoFile == nil { absent.append(generation.videoName) }
    if folder.depthFile == nil { absent.append(generation.depthName) }
    let hasPoses =
      folder.usesPropertyLists
      ? !folder.poseLists.isEmpty : folder.listing.contains(generation.poseName)
    if !hasPoses { absent.append(generation.poseName) }
    if generation.writesMetadata, !folder.listing.contains("metadata.json") {
      absent.append("metadata.json")
    }
    return absent
  }

  private static func sentence(_ error: CaptureError) -> String {
    "\(error.file.shownName) cannot be read: \(error.problem)."
  }
}
