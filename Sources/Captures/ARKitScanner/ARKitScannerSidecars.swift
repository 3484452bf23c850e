import Geometry

/// What the side files say, in the order of the keys, whatever form a generation gave them.
struct ARKitScannerSidecars: Sendable {
  /// Times of the keys in numeric order; `nil` where a released frame states none. Record i and
  /// picture i belong to key i. Of a killed recording the times in `exif.json`.
  var times: [Timestamp?] = []
  /// Whether the times are nominal, because the keys are frame numbers.
  var isNominal = false
  /// Whether there are no keys: the app was killed before it wrote the files that hold them.
  var isKilled = false

  /// One per key.
  var poses: StreamState<[ARKitScannerPoseReading]> = .absent("no pose file")
  /// One per key: 9 numbers `fx 0 0 0 fy 0 cx cy 1`, or `nil`.
  var matrices: StreamState<[[Double]?]> = .absent("no intrinsics file")
  /// Exposure offset in EV, one per key.
  var offsets: StreamState<[Double?]> = .absent("no offset file")
  /// One per key.
  var exposures: StreamState<[ARKitScannerExif.Entry?]> = .absent("no exif.json")
  var motion: StreamState<ARKitScannerMotion> = .absent("no motion file")

  /// What the parts were read from; the first name goes into descriptions.
  var files: [CapturePart: [String]] = [:]
  /// How the files are written: `json` or `plist`.
  var encoding = "json"

  /// Entries left out because their key is no number, by file.
  var unreadableKeys: [String: Int] = [:]
  /// Entries left out because their time lies far from all others, by part.
  var farOff: [CapturePart: Int] = [:]
  /// Parts whose file breaks off; their complete entries are used.
  var cutParts: Set<CapturePart> = []
  /// Whether the first table with keys is damaged, so that the others count as well.
  var takesKeysOfAllTables = false
  /// Whether keys were lost and nothing tells where: frames may have the time of a neighbor.
  var lostKeysAreUnplaced = false
  /// What is wrong with `exif.json`: not closed, and lines that are no entry.
  var exifIsOpen = false
  var exifBrokenLines = 0

  /// Takes over four tables: the pose file's keys count; without it those of any other file that the
  /// app writes with the same keys.
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
    let keys = ARKitScannerKeys(tables)
    takesKeysOfAllTables = !(tables.first?.isWhole ?? true)
    let times = keys.times
    self.times = times
    lostKeysAreUnplaced = keys.hasUnplacedLosses
    isNominal = tables.first?.keysAreFrameNumbers ?? false
    isKilled = times.isEmpty
    self.poses = poses.map {
      $0.entries(for: times).map { $0.map { ARKitScannerPoseReading(app: $0.numbers) } ?? .none }
    }
    self.matrices = matrices.map { $0.entries(for: times).map { $0?.numbers } }
    self.offsets = offsets.map { $0.entries(for: times).map { $0?.numbers?.first } }
    self.motion = motion.map(ARKitScannerMotion.init)
  }

  /// Takes over a single matrix, which then holds for every key.
  mutating func take(singleMatrix numbers: StreamState<[Double]?>, from file: String) {
    matrices = numbers.map { numbers in
      Array(repeating: numbers, count: times.count)
    }
    files[.intrinsics] = [file]
  }
}
