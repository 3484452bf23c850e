import Core
import FoundationEssentials
import Media
import SystemPackage

/// Everything that is read when a folder is opened.
struct ARKitScannerTables: Sendable {
  let folder: ARKitScannerFiles
  let metadata: StreamState<ARKitScannerMetadata>
  let sidecars: ARKitScannerSidecars
  let depth: StreamState<ARKitScannerDepthFile>
  let video: StreamState<CaptureVideo>
  let generation: ARKitScannerGeneration

  init(_ folder: ARKitScannerFiles) {
    self.folder = folder
    let name = "metadata.json"
    metadata =
      folder.has(name)
      ? StreamState(try ARKitScannerMetadata(folder.path(of: name)))
      : .absent(folder.absence(of: name))
    var sidecars =
      if folder.isRelease {
        ARKitScannerSidecars(release: folder)
      } else if folder.usesPropertyLists {
        ARKitScannerSidecars(propertyLists: folder)
      } else {
        ARKitScannerSidecars(json: folder, metadata: metadata.value)
      }
    if case .unreadable(let error) = metadata, case .absent = sidecars.matrices {
      sidecars.matrices = .unreadable(error)
      sidecars.files[.intrinsics] = ["metadata.json"]
    }
    let (size, keys) = (metadata.value?.depthSize ?? .absent, sidecars.times.count)
    if let name = folder.depthFile {
      depth = StreamState(
        try ARKitScannerDepthFile(folder.path(of: name), name: name, stated: size))
    } else {
      depth = .absent("no depth file")
    }
    if let name = folder.videoFile {
      video = StreamState(try CaptureVideo(arkitScanner: folder.path(of: name), keys: keys))
    } else {
      video = .absent("no video file")
    }
    let records = depth.value?.recordCount ?? 0
    let numbered = max(records, (sidecars.numbers?.last ?? -1) + 1)
    let pictures = video.value.map {
      CountedPictures(
        arkitScanner: $0, frames: records > 0 ? records : numbered, count: numbered
      ).frames
    }
    sidecars.place(isFromZero: folder.isRelease, depth: records, pictures: pictures ?? [])
    self.sidecars = sidecars
    generation = ARKitScannerGeneration(
      folder, metadata: metadata.value,
      keysAreTimes: !sidecars.isKilled && !sidecars.isNominal, layout: depth.value?.layout.kind)
  }

  /// The first error, if nothing is readable.
  var failure: CaptureError? {
    let isEmpty =
      depth.value == nil && video.value == nil && sidecars.times.isEmpty
      && sidecars.poses.value == nil
    guard isEmpty else { return nil }
    return depth.error ?? sidecars.poses.error ?? video.error
      ?? CaptureError(
        file: folder.path, problem: "no depth, no video and no poses",
        remedy: "upload the whole folder again")
  }
}

extension ARKitScannerSidecars {
  /// From `<t>_trans.xml`, `<t>_offset.txt`, `<t>_imu.xml` and `intri.xml`: one file per frame and
  /// value.
  init(propertyLists folder: ARKitScannerFiles) {
    encoding = "plist"
    let poses = Self.table(
      "_trans.xml", in: folder, read: ARKitScannerPropertyList.numbers(from:))
    let offsets = Self.table(
      "_offset.txt", in: folder, read: ARKitScannerSideFile.number(from:))
    let motion = Self.table("_imu.xml", in: folder, read: ARKitScannerPropertyList.numbers(from:))
    take(
      poses: poses, matrices: .absent(folder.absence(of: "intri.xml")), offsets: offsets,
      motion: motion)
    for (suffix, part) in [
      ("_trans.xml", CapturePart.poses), ("_offset.txt", .cameraSettings), ("_imu.xml", .imu),
    ] {
      let names = folder.files(endingIn: suffix).map(\.name)
      if !names.isEmpty { files[part] = names }
    }
    guard folder.has("intri.xml") else { return }
    take(
      singleMatrix: StreamState(
        try ARKitScannerPropertyList.numbers(from: folder.path(of: "intri.xml"))),
      from: "intri.xml")
  }

  private static func table(
    _ suffix: String, in folder: ARKitScannerFiles,
    read: (FilePath) throws(CaptureError) -> [Double]
  ) -> StreamState<ARKitScannerNumberTable> {
    let files = folder.files(endingIn: suffix)
    guard !files.isEmpty else { return .absent("no file …\(suffix)") }
    return .present(ARKitScannerNumberTable(files: files, in: folder.listing, read: read))
  }
}

/// Reads XML property lists of the first two generations: an array of `real`.
enum ARKitScannerPropertyList {
  /// Size limit in bytes; a list of 16 numbers takes about 600.
  private static let largestFile = 65_536
  /// Limit on nesting: the decoder is recursive, and many opening tags would exhaust its stack.
  private static let deepestNesting = 8

  static func numbers(from file: FilePath) throws(CaptureError) -> [Double] {
    let data = try ARKitScannerSideFile.bytes(of: file)
    guard data.count <= largestFile, isShallowXML(data) else {
      throw CaptureError(file: file, problem: "not an XML property list of numbers")
    }
    do {
      return try PropertyListDecoder().decode([Double].self, from: data)
    } catch {
      throw CaptureError(file: file, problem: "not a property list of numbers: \(error)")
    }
  }

  /// Whether the data are XML (the decoder accepts other forms too) in UTF-8 (it traps on other bytes in a
  /// number, seen with Swift 6.3) with few nested containers.
  private static func isShallowXML(_ data: Data) -> Bool {
    guard let text = String(validating: data, as: UTF8.self) else { return false }
    let start = text.drop { $0.isWhitespace || $0 == "\u{FEFF}" }
    guard start.hasPrefix("<?xml") || start.hasPrefix("<plist") || start.hasPrefix("<!DOCTYPE")
    else { return false }
    let containers = text.split(separator: "<", omittingEmptySubsequences: true)
      .count { $0.hasPrefix("array") || $0.hasPrefix("dict") }
    return containers <= deepestNesting
  }
}

extension CaptureVideo {
  /// Opens the first video track; the app writes one, and no audio. The container is detected by
  /// content.
  ///
  /// - Parameter keys: number of entries in the pose file, if any.
  init(arkitScanner path: FilePath, keys: Int) throws(CaptureError) {
    let video = try CaptureVideo(path, statedCounts: keys > 0 ? [keys] : [])
    guard let video, video.pictureCount > 0, video.track.storedWidth > 0,
      video.track.storedHeight > 0
    else {
      throw CaptureError(
        file: path, problem: "no pictures", remedy: "copy the file from the device again")
    }
    self = video
  }

  /// Size of the stored picture, to which intrinsics refer.
}

extension CountedPictures {
  /// The app writes frame number / 60 as the time of a picture.
  ///
  /// - Parameters:
  ///   - frames: number of frames that keys and depth records have.
  ///   - count: number of those that have a key.
  init(arkitScanner video: CaptureVideo, frames: Int, count: Int) {
    self.init(
      video.sixtieths(from: 0), count: video.pictureCount, isFromStart: video.isFromStart,
      divider: 1, Partners(length: frames, count: count, has: { $0 < frames }))
  }
}
