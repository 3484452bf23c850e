import Core
import FoundationEssentials
import Media
import SystemPackage

/// Everything that is read when a folder is opened.
struct ARKitScannerTables {
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
    generation = ARKitScannerGeneration(
      folder, metadata: metadata.value,
      keysAreTimes: !sidecars.isKilled && !sidecars.isNominal, layout: depth.value?.layout.kind)
    if case .absent = sidecars.matrices, generation.statesIntrinsics {
      sidecars.matrices = .absent(
        folder.has(name) ? "\(name) has no intrinsics" : folder.absence(of: name))
    }
    self.sidecars = sidecars
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
      "_trans.xml", in: folder, read: ARKitScannerSideFile.propertyList(from:))
    let offsets = Self.table(
      "_offset.txt", in: folder, read: ARKitScannerSideFile.number(from:))
    let motion = Self.table("_imu.xml", in: folder, read: ARKitScannerSideFile.propertyList(from:))
    take(
      poses: poses, matrices: .absent(folder.absence(of: "intri.xml")), offsets: offsets,
      motion: motion)
    for (suffix, part) in [
      ("_trans.xml", CapturePart.poses), ("_offset.txt", .cameraSettings), ("_imu.xml", .imu),
    ] {
      let names = folder.files(endingIn: suffix).map(\.name)
      if !names.isEmpty { files[part] = names }
      let others = folder.listing.files.count { $0.hasSuffix(suffix) } - names.count
      if others > 0 { count(others, of: suffix, part, names.isEmpty) }
    }
    guard folder.has("intri.xml") else { return }
    take(
      singleMatrix: StreamState(
        try ARKitScannerSideFile.propertyList(from: folder.path(of: "intri.xml"))),
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

/// XML property lists of the first two generations: an array of `real`.
extension ARKitScannerSideFile {
  /// Size limit in bytes; a list of 16 numbers takes about 600.
  private static let largestFile = 65_536
  /// Limit on nesting: the decoder is recursive, and many opening tags would exhaust its stack.
  private static let deepestNesting = 8

  static func propertyList(from file: FilePath) throws(CaptureError) -> [Double] {
    let data = try bytes(of: file)
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

/// The content of the side files by frame, independent of the generation's file format.
struct ARKitScannerSidecars {
  /// Times of the frames; `nil` where a frame has no key or its key no time. Of a killed recording,
  /// the times in `exif.json`.
  var times: [Timestamp?] = []
  /// Whether the times are assumed, because the keys are frame numbers.
  var isNominal = false
  /// Whether there are no keys, because the app was killed before it wrote their files.
  var isKilled = false

  /// The frames that have a key, where keys are frame numbers; `nil` if keys are times, and each has
  /// one.
  private(set) var framesWithKey: [Int]?
  /// Whether the numbers of the keys are not plausible, so that only their order counts.
  private(set) var hasImplausibleKeys = false

  /// Whether the smallest number of the keys may belong to the first frame or to the second.
  private(set) var isBaseDoubtful = false

  /// One pose per frame.
  var poses: StreamState<[PoseReading]> = .absent("no pose file")
  /// The world of the poses where it is not that of the generation.
  var world: PoseWorld?
  /// One per frame: 9 numbers `fx 0 0 0 fy 0 cx cy 1`, or `nil`.
  var matrices: StreamState<[[Double]?]> = .absent("no intrinsics file")
  /// Exposure offset in EV, one per frame.
  var offsets: StreamState<[Double?]> = .absent("no offset file")
  /// One entry per frame.
  var exposures: StreamState<[ARKitScannerExif.Entry?]> = .absent("no exif.json")
  var motion: StreamState<ARKitScannerMotion> = .absent("no motion file")

  /// The files from which the parts were read; the first name appears in descriptions.
  var files: [CapturePart: [String]] = [:]
  /// File format: `json` or `plist`.
  var encoding = "json"

  /// The number of entries left out because their key is not a number, by file.
  var unreadableKeys: [String: Int] = [:]
  /// The number of entries of tables of which no key can be read, by part.
  var keylessTables: [CapturePart: Int] = [:]
  /// By part, the number of entries left out because their time is far from all others.
  var farOff: [CapturePart: Int] = [:]
  /// Parts whose file is cut; their complete entries are used.
  var cutParts: Set<CapturePart> = []
  /// Whether the pose file is damaged, without keys or not there, so that keys of the other tables are used
  /// as well.
  var takesKeysOfAllTables = false
  /// Whether keys were lost at unknown positions: frames may have the time of a neighbor.
  var lostKeysAreUnplaced = false
  /// Problems of `exif.json`: whether it is not closed, and its lines that are not an entry.
  var exifIsOpen = false
  var exifBrokenLines = 0

  /// Adds four tables. The keys are those of the pose file; without it, those of any other file
  /// that the app writes with the same keys.
  mutating func take(
    poses: StreamState<ARKitScannerNumberTable>, matrices: StreamState<ARKitScannerNumberTable>,
    offsets: StreamState<ARKitScannerNumberTable>, motion: StreamState<ARKitScannerNumberTable>
  ) {
    for (part, table) in [
      (CapturePart.poses, poses.value), (.intrinsics, matrices.value),
      (.cameraSettings, offsets.value), (.imu, motion.value),
    ] {
      farOff[part] = table?.farOff
      if table?.isCut ?? false { cutParts.insert(part) }
    }
    let tables = [poses, matrices, offsets].compactMap(\.value).filter { !$0.entries.isEmpty }
    takeKeys(of: tables)
    takesKeysOfAllTables =
      poses.value.map { !$0.isWhole || $0.entries.isEmpty || $0.entries.count != times.count }
      ?? true
    isNominal = tables.first?.keysAreFrameNumbers ?? false
    if isNominal {
      numbers = times.compactMap { $0?.arkitFrame }
    }
    isKilled = times.isEmpty
    self.poses = poses.map {
      $0.entries(for: times).map {
        $0.map { $0.isEmpty ? .empty : PoseReading(app: $0.numbers) } ?? .none
      }
    }
    self.matrices = matrices.map { $0.entries(for: times).map { $0?.numbers } }
    self.offsets = offsets.map { $0.entries(for: times).map { $0?.numbers?.first } }
    self.motion = motion.map(ARKitScannerMotion.init)
  }

  /// The frame numbers that the keys are, ascending; `nil` if they are times.
  var numbers: [Int]?

  /// Whether the pose file is there although no table has a key, so that the app was not killed before it wrote it.
  var hasPosesWithoutKey: Bool {
    if case .absent = poses { false } else { keyCount == 0 }
  }

  /// Number of keys.
  var keyCount: Int { isKilled ? 0 : framesWithKey?.count ?? times.count }

  /// Puts every entry at the frame of its number.
  ///
  /// - Parameters:
  ///   - isFromZero: whether the first frame's number is 0 for certain. Otherwise it may be 1.
  ///   - depth: number of depth records, which have the numbers from 0 on.
  ///   - pictures: numbers of the pictures, from 0 on.
  mutating func place(isFromZero: Bool, depth: Int, pictures: [Int]) {
    guard let numbers, !numbers.isEmpty else { return }
    let records = max(depth, (pictures.last ?? -1) + 1, numbers.count)
    guard
      StreamKeys.numbers(numbers).areBelieved(upTo: NumberedFiles.mostBelieved(records: records))
    else {
      hasImplausibleKeys = true
      return
    }
    let known = Set(numbers)
    func withoutKey(from base: Int) -> Int {
      (0..<depth).count { !known.contains($0 + base) }
        + pictures.count { !known.contains($0 + base) }
    }
    var base = 0
    if !isFromZero, numbers[0] > 0 {
      let (zero, one) = (withoutKey(from: 0), withoutKey(from: 1))
      base = one < zero ? 1 : 0
      // Where entries of one end are lost, a single loss more tells the other base. A key without record and
      // picture tells that, too.
      let hasPicture = Set(pictures)
      func alone(from base: Int) -> Int {
        numbers.count { $0 - base >= depth && !hasPicture.contains($0 - base) }
      }
      isBaseDoubtful =
        min(zero, one) > 0 && abs(zero + alone(from: 0) - one - alone(from: 1)) <= 1
    }
    let places = numbers.map { $0 - base }
    framesWithKey = places
    guard !places.elementsEqual(places.indices) else { return }
    func placed<Value>(_ values: [Value], absent: Value) -> [Value] {
      var result = [Value](repeating: absent, count: (places.last ?? -1) + 1)
      for (place, value) in zip(places, values) { result[place] = value }
      return result
    }
    times = placed(times, absent: nil)
    poses = poses.map { placed($0, absent: .none) }
    matrices = matrices.map { placed($0, absent: nil) }
    offsets = offsets.map { placed($0, absent: nil) }
    exposures = exposures.map { placed($0, absent: nil) }
  }

  /// Adds a single matrix, which applies to every key.
  mutating func take(singleMatrix numbers: StreamState<[Double]?>, from file: String) {
    matrices = numbers.map { numbers in
      Array(repeating: numbers, count: times.count)
    }
    files[.intrinsics] = [file]
  }
}

extension ARKitScannerSidecars {
  /// From `trans.json` and related files.
  init(json folder: ARKitScannerFiles, metadata: ARKitScannerMetadata?) {
    // Keys are times in all generations with these files.
    let timesOnly = folder.has("intri.json") || folder.has("exif.json")
    var tables: [StreamState<ARKitScannerNumberTable>] = []
    for (name, part) in [
      ("trans.json", CapturePart.poses), ("intri.json", .intrinsics),
      ("offset.json", .cameraSettings), ("imu.json", .imu),
    ] {
      let table = Self.table(name, in: folder, timesOnly: timesOnly)
      tables.append(table)
      if let table = table.value {
        count(table.unreadableKeys, of: name, part, table.entries.isEmpty)
      }
      if folder.has(name) { files[part] = [name] }
    }
    take(poses: tables[0], matrices: tables[1], offsets: tables[2], motion: tables[3])
    if !folder.has("intri.json"), let text = metadata?.matrix {
      take(singleMatrix: .present(LooseJSON.numbers(text)), from: "metadata.json")
    }
    readExif(in: folder)
  }

  /// Reads `exif.json`: exposures for the keys, or, if there are no keys, their times.
  mutating func readExif(in folder: ARKitScannerFiles, numbers: [Int]? = nil) {
    guard folder.has("exif.json") else { return }
    files[isKilled ? .frames : .cameraSettings, default: []].append("exif.json")
    do throws(CaptureError) {
      let exif = try ARKitScannerExif(folder.path(of: "exif.json"))
      (exifIsOpen, exifBrokenLines) = (!exif.isClosed, exif.brokenLines)
      if isKilled {
        times = exif.times
        exifBrokenLines += exif.farOff
      } else {
        exposures = .present(
          numbers.map(exif.entries(forFrameNumbers:)) ?? exif.entries(for: times))
      }
    } catch {
      exposures = .unreadable(error)
    }
  }

  /// Counts the entries of a table whose key is not a number.
  private mutating func count(
    _ unreadable: Int, of file: String, _ part: CapturePart, _ areAll: Bool
  ) {
    if areAll { keylessTables[part] = unreadable } else { unreadableKeys[file] = unreadable }
  }

  private static func table(
    _ name: String, in folder: ARKitScannerFiles, timesOnly: Bool
  ) -> StreamState<ARKitScannerNumberTable> {
    folder.has(name)
      ? StreamState(
        try ARKitScannerNumberTable(json: folder.path(of: name), timesOnly: timesOnly))
      : .absent(folder.absence(of: name))
  }
}

extension ARKitScannerSidecars {
  /// From the pose file of a released scene.
  init(release folder: ARKitScannerFiles) {
    let name = ARKitScannerFiles.releasePoses
    guard folder.has(name) else {
      let why = folder.absence(of: name)
      (poses, matrices, motion) = (.absent(why), .absent(why), .absent(why))
      isKilled = true
      readExif(in: folder)
      return
    }
    let release: ARKitScannerRelease
    do throws(CaptureError) {
      release = try ARKitScannerRelease(folder.path(of: name))
    } catch {
      (poses, matrices, motion) = (.unreadable(error), .unreadable(error), .unreadable(error))
      return
    }
    files = [.poses: [name], .intrinsics: [name], .imu: [name]]
    count(release.unreadableKeys, of: name, .poses, release.frames.isEmpty)
    farOff[.poses] = release.farOff
    if release.isCut { cutParts.insert(.poses) }
    times = release.frames.map(\.frame.time)
    numbers = release.frames.map(\.number)
    // Poses of two world frames must not be mixed: the app's own poses are used only if there are
    // no others.
    let aligned = release.frames.contains { $0.frame.alignedPose != nil }
    if !aligned { world = .yUp }
    poses = .present(
      release.frames.map {
        PoseReading(
          release: aligned ? $0.frame.alignedPose : $0.frame.pose, aligned: aligned)
      })
    matrices = .present(
      release.frames.map { _, frame in
        guard let rows = frame.intrinsic, rows.count == 3, rows.allSatisfy({ $0.count == 3 }) else {
          return nil
        }
        return (0..<3).flatMap { column in rows.map { $0[column] } }
      })
    motion = .present(ARKitScannerMotion(release))

    if folder.has("exif.json") { files[.cameraSettings] = [name] }
    readExif(in: folder, numbers: numbers)
  }
}

extension ARKitScannerSidecars {
  /// Takes the keys of a recording in order. Where they are times, record i belongs to key i, so a lost key must leave
  /// its position empty. Where they are frame numbers they say it themselves.
  ///
  /// - Parameter tables: those with one entry per frame; the first is the pose file's. Keys that only another one has
  ///   are used as well, of a whole pose file those of tables that share half of the keys. Keys that a damaged one lost
  ///   and no other has show as gaps in the times.
  private mutating func takeKeys(of tables: [ARKitScannerNumberTable]) {
    guard let first = tables.first else { return }
    let ofPoses = first.entries.map(\.key)
    let ownKeys = Set(ofPoses)
    let others = tables.dropFirst().filter { $0.keysAreFrameNumbers == first.keysAreFrameNumbers }
      .map { $0.entries.map(\.key) }
      .filter { (keys: [Timestamp]) in
        let shared = keys.count(where: ownKeys.contains)
        return !first.isWhole || 2 * shared >= min(keys.count, ownKeys.count)
      }.joined()
    let all = ownKeys.union(others)
    let known = all.count == ownKeys.count ? ofPoses : all.sorted()
    times = known
    guard !first.isWhole, !first.keysAreFrameNumbers else { return }
    // The number of keys lost from a cut file is known only if another file is complete.
    let written = first.entries.count + first.farOff + first.unreadableKeys
    let lost = written - known.count
    if lost > 0 {
      if let placed = Self.placing(lost, in: known) {
        times = placed
      } else {
        times += Array(repeating: nil, count: lost)
        lostKeysAreUnplaced = true
      }
    } else if first.isCut, !tables.dropFirst().contains(where: \.isWhole) {
      lostKeysAreUnplaced = true
    }
  }

  /// `times` with empty positions inserted into its gaps; `nil` unless the gaps hold exactly
  /// `count`.
  private static func placing(_ count: Int, in times: [Timestamp]) -> [Timestamp?]? {
    let steps = TimeSteps(times)
    guard let median = steps.medianNanoseconds, median > 0, let first = times.first else {
      return nil
    }
    var placed: [Timestamp?] = [first]
    var left = count
    for (step, time) in zip(steps.nanoseconds, times.dropFirst()) {
      // Limited: more than what is left is too many anyway.
      let missing = min((Double(step) / Double(median)).rounded() - 1, Double(left) + 1)
      if missing >= 1 {
        left -= Int(missing)
        guard left >= 0 else { return nil }
        placed += Array(repeating: nil, count: Int(missing))
      }
      placed.append(time)
    }
    return left == 0 ? placed : nil
  }
}

extension PoseReading {
  /// From the app's column-major matrix with ARKit camera axes.
  init(app numbers: [Double]?) {
    guard let numbers, numbers.count == 16 else {
      self = .malformed
      return
    }
    self.init(columnMajor: numbers)
  }

  /// From four rows. If `aligned`, the axes are OpenCV's and nothing is divided; otherwise the
  /// matrix is the app's own, by rows.
  init(release rows: [[Double]]?, aligned: Bool) {
    guard let rows else {
      self = .none
      return
    }
    guard rows.count == 4, rows.allSatisfy({ $0.count == 4 }) else {
      self = .malformed
      return
    }
    guard rows.allSatisfy({ $0.allSatisfy(\.isFinite) }) else {
      self = .nonFinite
      return
    }
    if aligned {
      let pose = Pose(
        rotation: rows[..<3].flatMap { $0[..<3] }, position: rows[..<3].map { $0[3] })
      self = pose.map(PoseReading.value) ?? .malformed
    } else {
      self.init(rowMajor: rows.flatMap(\.self))
    }
  }
}
