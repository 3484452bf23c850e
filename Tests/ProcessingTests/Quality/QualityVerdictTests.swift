import Testing

@testable import Core
@testable import Processing

@Suite("The verdict on a capture")
struct QualityVerdictTests {
  private typealias Subject = QualityVerdict.Subject
  private typealias Change = (inout FrameQuality) -> Void

  private func thresholds() -> QualityVerdict.Thresholds {
    QualityVerdict.Thresholds(
      limits: Dictionary(
        uniqueKeysWithValues: Subject.allCases.filter { $0 != .overlapMissing }.map {
          ($0, QualityVerdict.Limits(usable: 0.2, poor: 0.5))
        }))
  }

  private func frame(_ change: Change) throws -> FrameQuality {
    var frame = FrameQuality()
    frame.picture = PictureMeasure(
      sharpness: 50, blurWidth: .pixels(1), darkShare: 0, brightShare: 0,
      fingerprint: try #require(PictureFingerprint(text: String(repeating: "0", count: 128))))
    frame.hasDetailAround = true
    change(&frame)
    return frame
  }

  /// Ten frames, of which so many are changed.
  private func verdict(
    _ count: Int, _ change: Change
  ) throws -> QualityVerdict {
    try #require(
      QualityVerdict(
        of: try (0..<10).map { $0 < count ? try frame(change) : try frame { _ in } }, thresholds()))
  }

  @Test(
    "A share above the first limit is usable, above the second poor, at a limit not",
    arguments: [(0, "good"), (2, "good"), (3, "usable"), (5, "usable"), (6, "poor")])
  func shares(count: Int, level: String) throws {
    let changes: [(Subject, Change)] = [
      (.blurred, { $0.relativeSharpness = 0.4 }),
      (.blurred, { $0.blurPixels = 4.1 }), (.blurred, { $0.picture?.blurWidth = .pixels(2.7) }),
      (
        .clipped,
        {
          $0.picture?.darkShare = 0.3
          $0.picture?.brightShare = 0.11
        }
      ),
      (.duplicates, { $0.duplicateOf = 0 }),
    ]
    for (subject, change) in changes {
      let found = try verdict(count, change)
      #expect(found.level.rawValue == level, "\(subject)")
      #expect(found.reasons.map(\.subject) == (level == "good" ? [] : [subject]))
    }
  }

  @Test("Of depth and poses the middle frame counts, so that one bad frame does not")
  func middle() throws {
    let changes: [(Subject, Change)] = [
      (.depthMissing, { $0.depthShare = 0.1 }),
      (
        .depthDisagreement,
        {
          $0.agreement = DepthAgreement.Result(
            medianMillimeters: 1, ninthDecileMillimeters: 2, medianPermille: 0.6,
            ninthDecilePermille: 1, count: 500)
        }
      ),
      (.rotationDisagreement, { ($0.poseDegrees, $0.gyroscopeDegrees) = (1, 1.7) }),
    ]
    for (subject, change) in changes {
      #expect(try verdict(10, change).level == .poor, "\(subject)")
    }
    let one = try #require(
      QualityVerdict(
        of: try (0..<9).map { index in try frame { $0.depthShare = index == 0 ? 0 : 0.9 } },
        thresholds()))
    #expect(one.level == .good)
  }

  @Test("Only what was measured is judged, and a capture of which nothing was is not")
  func unknown() throws {
    #expect(
      try verdict(0) { _ in }.findings.map(\.subject) == [.blurred, .clipped, .duplicates])
    #expect(QualityVerdict(of: [FrameQuality(), FrameQuality()], thresholds()) == nil)
    #expect(QualityVerdict(of: [], thresholds()) == nil)
  }

  @Test(
    "Where more than half cannot be told sharp from blurred it is unjudged, unless enough are blurred anyway",
    arguments: [BlurWidth.Cause.flat, .noise])
  func untold(cause: BlurWidth.Cause) throws {
    let untold: Change = { $0.picture?.blurWidth = .unknown(cause) }
    #expect(try verdict(5, untold).level == .good)
    let most = try verdict(6, untold)
    #expect(most.level == .unjudged)
    #expect(most.reasons.map(\.subject) == [.blurred] && most.reasons.first?.value == nil)
    #expect(
      most.reasons.first?.lack
        == .sharpness(flat: cause == .flat ? 6 : 0, noisy: cause == .noise ? 6 : 0, of: 10))
    // Those that can be told decide, as a share of themselves.
    var frames = try (0..<10).map { $0 < 4 ? try frame(untold) : try frame { _ in } }
    for index in 4..<8 { frames[index].picture?.blurWidth = .pixels(3) }
    #expect(QualityVerdict(of: frames, thresholds())?.level == .poor)
    // Noise beside noise is no picture that is less sharp than others.
    for index in frames.indices {
      untold(&frames[index])
      frames[index].hasDetailAround = false
      frames[index].relativeSharpness = 0.3
    }
    #expect(QualityVerdict(of: frames, thresholds())?.level == .unjudged)
    for index in 0..<6 { frames[index].hasDetailAround = true }
    #expect(QualityVerdict(of: frames, thresholds())?.level == .poor)
  }

  @Test("A soft picture is told, and not counted")
  func soft() throws {
    let found = try [1.8, 1.9, 2.6, 2.7].map { width in
      try frame { $0.picture?.blurWidth = .pixels(width) }.sharpnessLevel(thresholds())
    }
    #expect(found == [.sharp, .soft, .soft, .blurred])
    #expect(try frame { $0.blurPixels = 4 }.sharpnessLevel(thresholds()) != .blurred)
    #expect(FrameQuality().sharpnessLevel(thresholds()) == nil)
  }

  @Test("Depth and poses of which no pair of frames sees the same are unjudged, and it is said")
  func overlap() throws {
    let apart = try verdict(9) { $0.comparesDepth = true }
    #expect(apart.level == .unjudged)
    #expect(apart.reasons.map(\.lack) == [.overlap(pairs: 9)])
    // A worse subject decides; what is unjudged is told beside it.
    let both = try verdict(6) {
      $0.comparesDepth = true
      $0.duplicateOf = 0
    }
    #expect(both.level == .poor)
    #expect(both.reasons.map(\.subject) == [.duplicates, .depthDisagreement])
  }

  @Test(
    "What is known of the capture as a whole is judged where it has limits, and what lacks is told")
  func figures() throws {
    var figures = QualityVerdict.Figures()
    figures.values = [.sensorGap: 0.3, .exposure: 0.1]
    figures.lacks = [.sensorInterval: "there are no samples", .posesMissing: "none"]
    figures.values[.posesMissing] = 0.6
    var limits = thresholds()
    let found = try #require(QualityVerdict(of: [frame { _ in }], limits, figures))
    #expect(found.level == .poor)
    #expect(found.reasons.map(\.subject) == [.sensorInterval, .posesMissing])
    #expect(found.reasons.first?.lack == .other("there are no samples"))
    #expect(found.findings.first { $0.subject == .sensorGap }?.level == .usable)
    limits.limits = [.exposure: QualityVerdict.Limits(usable: 0.2, poor: 0.5)]
    #expect(try QualityVerdict(of: [frame { _ in }], limits, figures)?.level == .good)
  }

  @Test("Neighbors that see nothing together are counted where that has limits")
  func pairs() throws {
    let seen = DepthAgreement.Result(
      medianMillimeters: 1, ninthDecileMillimeters: 2, medianPermille: 0, ninthDecilePermille: 1,
      count: 500)
    let frames = try (0..<4).map { index in
      try frame {
        $0.comparesDepth = index > 0
        $0.agreement = index > 1 ? seen : nil
      }
    }
    var limits = thresholds()
    limits.limits = [.overlapMissing: QualityVerdict.Limits(usable: 0.2, poor: 0.5)]
    let found = try #require(QualityVerdict(of: frames, limits))
    #expect(found.findings.map(\.value) == [1.0 / 3])
    #expect(found.level == .usable)
  }

  @Test("The worst subject decides, and only it is the reason")
  func worst() throws {
    let found = try verdict(6) {
      $0.duplicateOf = 0
      $0.depthShare = 0.7
    }
    #expect(found.level == .poor)
    #expect(found.reasons.map(\.subject) == [.duplicates])
    #expect(found.findings.first { $0.subject == .depthMissing }?.level == .usable)
  }

  @Test("Sharpness is compared with the median of five frames on each side")
  func neighbors() throws {
    var frames = try (0..<20).map { index in
      try frame { $0.picture?.sharpness = index == 10 ? 20 : index < 15 ? 100 : 400 }
    }
    frames[3].picture = nil
    frames.compareSharpness()
    #expect(frames[10].relativeSharpness == 0.2)
    #expect(frames[0].relativeSharpness == 1)
    #expect(frames[3].relativeSharpness == nil)
    #expect(frames[19].relativeSharpness == 1)
    var even = [try frame { $0.picture?.sharpness = 0 }]
    even.compareSharpness()
    #expect(even[0].relativeSharpness == 1)
  }
}

@Suite("Depth of neighboring frames compared by their poses")
struct DepthAgreementTests {
  private static let camera = PinholeCamera(
    width: 64, height: 48, fx: 50, fy: 50, cx: 31.5, cy: 23.5)
  private static let colorFromDepth = RigidTransform(
    rotation: RandomScene.rotation(0.02, -0.03, 0.01), translation: [0.05, -0.01, 0.02])

  private func agreement() throws -> DepthAgreement {
    try DepthAgreement(
      calibration: DepthCalibration(
        registered: false, colorFromDepth: Self.colorFromDepth, depthIntrinsics: Self.camera,
        colorIntrinsics: PinholeCamera(
          width: 128, height: 96, fx: 100, fy: 100, cx: 63.5, cy: 47.5)),
      depthSize: PictureSize(width: 64, height: 48), colorSize: nil)
  }

  /// The wall z = 3 m of the world, as the depth camera of a color camera at `pose` measures it.
  private func wall(at pose: Pose, error: Double = 0) -> [UInt16] {
    let worldFromDepth = pose.worldFromCamera * Self.colorFromDepth
    var frame: [UInt16] = []
    for row in 0..<48 {
      for column in 0..<64 {
        let ray = [
          (Double(column) - Self.camera.cx) / Self.camera.fx,
          (Double(row) - Self.camera.cy) / Self.camera.fy, 1,
        ]
        let end = worldFromDepth.apply(to: ray)
        let start = worldFromDepth.translation
        let z = (3 - start[2]) / (end[2] - start[2])
        frame.append(UInt16((z * 1000 + error).rounded()))
      }
    }
    return frame
  }

  private func pose(_ x: Double, _ y: Double, _ z: Double, turned angle: Double) -> Pose {
    Pose(
      position: [x, y, z],
      orientation: Quaternion(rotation: RandomScene.rotation(angle, -angle, angle / 2)))
  }

  @Test("A wall seen from two places agrees to the millimeter of its storage")
  func wall() throws {
    let (first, second) = (pose(0, 0, 0, turned: 0), pose(0.1, -0.05, 0.2, turned: 0.05))
    let result = try #require(
      try agreement().compare(
        wall(at: second).span, at: second, with: wall(at: first).span, at: first))
    // Both are rounded to millimeters, and a pixel beside the exact place is half a pixel away.
    #expect(result.medianMillimeters < 3)
    #expect(result.ninthDecileMillimeters < 8)
    #expect(result.medianPermille < 1)
    #expect(result.count > 1000)
  }

  @Test("An error of depth or of the pose along the axis is found in full", arguments: [20, 100])
  func errors(millimeters: Double) throws {
    let still = pose(0, 0, 0, turned: 0)
    let moved = pose(0, 0, -millimeters / 1000, turned: 0)
    for (frame, at) in [(wall(at: still, error: millimeters), still), (wall(at: still), moved)] {
      let result = try #require(
        try agreement().compare(frame.span, at: at, with: wall(at: still).span, at: still))
      #expect(abs(result.medianMillimeters - millimeters) < 0.1 * millimeters)
    }
  }

  @Test("Frames that do not overlap, or measure too little, tell nothing")
  func nothing() throws {
    let (first, away) = (pose(0, 0, 0, turned: 0), pose(0, 0, 0, turned: 1.2))
    let (agreement, frame) = (try agreement(), wall(at: first))
    #expect(agreement.compare(frame.span, at: away, with: frame.span, at: first) == nil)
    let few = frame.enumerated().map { $0.offset % 40 == 0 ? $0.element : 0 }
    #expect(agreement.compare(few.span, at: first, with: frame.span, at: first) == nil)
    #expect(agreement.compare(frame.span, at: first, with: few.span, at: first) == nil)
    #expect(agreement.compare([1, 2].span, at: first, with: frame.span, at: first) == nil)
    let nan = Pose(position: [.nan, 0, 0], orientation: first.orientation)
    #expect(agreement.compare(frame.span, at: nan, with: frame.span, at: first) == nil)
  }
}
