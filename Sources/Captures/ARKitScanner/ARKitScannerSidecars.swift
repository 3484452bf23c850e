import Core

/// The content of the side files by frame, independent of the generation's file format.
struct ARKitScannerSidecars: Sendable {
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

  /// One pose per frame.
  var poses: StreamState<[ARKitScannerPoseReading]> = .absent("no pose file")
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
    let times = keys.times
    takesKeysOfAllTables =
      tables.first.map { !$0.isWhole || $0.entries.count != times.count } ?? false
    self.times = times
    lostKeysAreUnplaced = keys.hasUnplacedLosses
    isNominal = tables.first?.keysAreFrameNumbers ?? false
    if isNominal {
      numbers = times.compactMap { $0.map(ARKitScannerKey.frameNumber) }
    }
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

  /// The frame numbers that the keys are, ascending; `nil` if they are times.
  var numbers: [Int]?

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
    guard StreamKeys.numbers(numbers).areBelieved(upTo: FrameNumberLimit.of(records: records))
    else {
      hasImplausibleKeys = true
      return
    }
    let known = Set(numbers)
    func withoutKey(from base: Int) -> Int {
      (0..<depth).count { !known.contains($0 + base) }
        + pictures.count { !known.contains($0 + base) }
    }
    let base = !isFromZero && numbers[0] > 0 && withoutKey(from: 1) < withoutKey(from: 0) ? 1 : 0
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
