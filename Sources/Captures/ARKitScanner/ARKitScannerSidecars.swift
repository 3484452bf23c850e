import Geometry

/// The content of the side files in the order of the keys, independent of the generation's file
/// format.
struct ARKitScannerSidecars: Sendable {
  /// Times of the keys in ascending order; `nil` where a released frame has none. Record i and
  /// picture i belong to key i. Of a killed recording, the times in `exif.json`.
  var times: [Timestamp?] = []
  /// Whether the times are assumed, because the keys are frame numbers.
  var isNominal = false
  /// Whether there are no keys, because the app was killed before it wrote their files.
  var isKilled = false

  /// One pose per key.
  var poses: StreamState<[ARKitScannerPoseReading]> = .absent("no pose file")
  /// The world of the poses where it is not that of the generation.
  var world: PoseWorld?
  /// One per key: 9 numbers `fx 0 0 0 fy 0 cx cy 1`, or `nil`.
  var matrices: StreamState<[[Double]?]> = .absent("no intrinsics file")
  /// Exposure offset in EV, one per key.
  var offsets: StreamState<[Double?]> = .absent("no offset file")
  /// One entry per key.
  var exposures: StreamState<[ARKitScannerExif.Entry?]> = .absent("no exif.json")
  var motion: StreamState<ARKitScannerMotion> = .absent("no motion file")

  /// The files from which the parts were read; the first name appears in descriptions.
  var files: [CapturePart: [String]] = [:]
  /// File format: `json` or `plist`.
  var encoding = "json"

  /// By file, the number of entries left out because their key is not a number.
  var unreadableKeys: [String: Int] = [:]
  /// By part, the number of entries left out because their time is far from all others.
  var farOff: [CapturePart: Int] = [:]
  /// Parts whose file is cut; their complete entries are used.
  var cutParts: Set<CapturePart> = []
  /// Whether the first table with keys is damaged, so that keys of the other tables are used as
  /// well.
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
    let keys = ARKitScannerKeys(tables)
    takesKeysOfAllTables = !(tables.first?.isWhole ?? true)
    let times = keys.times
    self.times = times
    lostKeysAreUnplaced = keys.hasUnplacedLosses
    isNominal = tables.first?.keysAreFrameNumbers ?? false
    isKilled = times.isEmpty
    self.poses = poses.map {
      $0.entries(for: times).map {
        $0.map { $0.isEmpty ? .empty : ARKitScannerPoseReading(app: $0.numbers) } ?? .none
      }
    }
    self.matrices = matrices.map { $0.entries(for: times).map { $0?.numbers } }
    self.offsets = offsets.map { $0.entries(for: times).map { $0?.numbers?.first } }
    self.motion = motion.map(ARKitScannerMotion.init)
  }

  /// Adds a single matrix, which applies to every key.
  mutating func take(singleMatrix numbers: StreamState<[Double]?>, from file: String) {
    matrices = numbers.map { numbers in
      Array(repeating: numbers, count: times.count)
    }
    files[.intrinsics] = [file]
  }
}
