import Testing

@testable import Core
@testable import Processing

@Suite("Aligned depth at the edges of what is possible")
struct AlignmentEdgeTests {
  typealias Known = AlignmentGeometryTests

  static func forward(_ meters: Double) -> RigidTransform {
    RigidTransform(rotation: RigidTransform.identity.rotation, translation: [0, 0, meters])
  }

  @Test(
    "What is behind the color camera or nearer than the minimum gives nothing",
    arguments: AlignmentParameters.Surface.allCases)
  func behind(surface: AlignmentParameters.Surface) throws {
    for (shift, isSeen) in [(-1.5, false), (-1.0, false), (-0.9995, false), (-0.99, true)] {
      let aligner = try DepthAligner(
        calibration: Known.calibration(Self.forward(shift)),
        parameters: AlignmentParameters(surface: surface))
      let values = Set(try aligner.aligned(Known.plane(1000)).millimeters)
      #expect(values.subtracting([0]).isEmpty != isSeen, "shift \(shift)")
    }
  }

  @Test(
    "Results below 1 or above 65,535 are written as 0",
    arguments: [
      (65_535, 0.0, 65_535), (65_535, 0.0004, 65_535), (65_535, 0.0006, 0), (65_000, 1, 0),
      (1, 0, 1), (2, -0.0014, 1), (2, -0.0016, 0),
    ] as [(UInt16, Double, UInt16)])
  func range(z: UInt16, shift: Double, expected: UInt16) throws {
    let aligner = try DepthAligner(
      calibration: Known.calibration(Self.forward(shift)),
      parameters: AlignmentParameters(surface: .points, minimumDepth: 1e-5))
    let values = Set(try aligner.aligned(Known.plane(z)).millimeters)
    #expect(values.subtracting([0]) == (expected == 0 ? [] : [expected]))
  }

  @Test("An empty frame gives an all-zero picture, and nothing of the frame before is left")
  func empty() throws {
    var scratch = AlignmentScratch()
    var output: [UInt16] = []
    for surface in AlignmentParameters.Surface.allCases {
      let aligner = try DepthAligner(
        calibration: Known.calibration(Self.forward(0.02)),
        parameters: AlignmentParameters(surface: surface))
      try aligner.align(Known.relief().millimeters, scratch: &scratch, into: &output)
      #expect(output.contains { $0 > 0 })
      try aligner.align(Known.plane(0).millimeters, scratch: &scratch, into: &output)
      #expect(output.allSatisfy { $0 == 0 })
      #expect(output.count == Known.colorCamera.width * Known.colorCamera.height)
    }
  }

  @Test("A triangle is kept when its depths differ by exactly the threshold, and cut one beyond")
  func threshold() throws {
    for (near, step, isKept) in [
      (1000, 60, true), (1000, 61, false), (200, 20, true), (200, 21, false), (4000, 210, true),
      (4000, 211, false), (9860, 503, true), (9860, 504, false),
    ] as [(UInt16, UInt16, Bool)] {
      let aligner = try DepthAligner(calibration: Known.calibration(Self.forward(0.02)))
      var frame = Known.plane(near)
      for index in frame.millimeters.indices where index % 64 >= 32 {
        frame.millimeters[index] += step
      }
      let row = try aligner.aligned(frame).millimeters[(49 * 130)..<(50 * 130)]
      let values = row.drop { $0 == 0 }.reversed().drop { $0 == 0 }
      #expect(values.contains(0) != isKept, "\(near) + \(step)")
    }
  }

  @Test("Frames of another size are refused")
  func frameSize() throws {
    let aligner = try DepthAligner(calibration: Known.calibration())
    var scratch = AlignmentScratch()
    var output: [UInt16] = []
    for count in [0, 1, 64 * 48 - 1, 64 * 48 + 1] {
      #expect(
        throws: AlignmentError.frameSize(
          pixels: count, expected: PictureSize(width: 64, height: 48))
      ) {
        try aligner.align(Array(repeating: 1000, count: count), scratch: &scratch, into: &output)
      }
    }
  }

  @Test("Cameras of one pixel, one row or one column are no trouble")
  func tiny() throws {
    for (width, height) in [(1, 1), (1, 9), (9, 1), (2, 2), (5, 3)] {
      let depth = PinholeCamera(width: width, height: height, fx: 10, fy: 10, cx: 0, cy: 0)
      for surface in AlignmentParameters.Surface.allCases {
        for color in [depth.scaled(toWidth: 1, height: 1), depth.scaled(toWidth: 17, height: 13)] {
          let aligner = try DepthAligner(
            calibration: Known.calibration(Self.forward(0.01), depth: depth, color: color),
            parameters: AlignmentParameters(surface: surface))
          let output = try aligner.aligned(Known.plane(1000, depth))
          #expect(Set(output.millimeters).isSubset(of: [0, 1010]))
        }
      }
    }
  }

  @Test("A surface through the color camera's place makes huge triangles, which are drawn")
  func huge() throws {
    // Floor under the camera, seen from just above it: quads reach from the feet to far beyond.
    let transform = RigidTransform(
      rotation: RandomScene.rotation(0, 0, 0), translation: [0, -0.0005, -0.998])
    var calibration = Known.calibration(transform)
    calibration.colorIntrinsics = Known.colorCamera.scaled(toWidth: 1300, height: 980)
    let aligner = try DepthAligner(
      calibration: calibration, parameters: AlignmentParameters(minimumDepth: 0.001))
    let output = try aligner.aligned(Known.plane(1000))
    #expect(Set(output.millimeters).isSubset(of: [0, 2]))
    #expect(output.millimeters.count(where: { $0 == 2 }) > 1_000_000)
  }
}

@Suite("Calibrations that cannot be used")
struct AlignmentErrorTests {
  typealias Known = AlignmentGeometryTests

  @Test("What is missing is named")
  func missing() {
    let all = Known.calibration()
    var noColor = all
    noColor.colorIntrinsics = nil
    var noDepth = all
    noDepth.depthIntrinsics = nil
    var noTransform = all
    noTransform.colorFromDepth = nil
    for (calibration, missing) in [
      (noColor, ["colorIntrinsics"]), (noDepth, ["depthIntrinsics"]),
      (noTransform, ["colorFromDepth"]),
      (
        DepthCalibration(registered: false),
        ["colorIntrinsics", "depthIntrinsics", "colorFromDepth"]
      ),
      (DepthCalibration(registered: true), ["colorIntrinsics", "depthIntrinsics"]),
    ] {
      #expect(throws: AlignmentError.notApplicable(missing: missing)) {
        try DepthAligner(calibration: calibration)
      }
    }
  }

  @Test("A registered capture needs the color intrinsics and a depth size only")
  func registered() throws {
    let calibration = DepthCalibration(registered: true, colorIntrinsics: Known.colorCamera)
    let size = PictureSize(width: 26, height: 20)
    let aligner = try DepthAligner(calibration: calibration, depthSize: size)
    #expect(aligner.depthSize == size)
    #expect(aligner.colorFromDepth.isIdentity)
    // One that states depth intrinsics keeps them.
    let stated = try DepthAligner(
      calibration: DepthCalibration(
        registered: true, depthIntrinsics: Known.depthCamera, colorIntrinsics: Known.colorCamera))
    #expect(stated.depthSize == PictureSize(width: 64, height: 48))
  }

  @Test("An impossible number is named with its key and its value")
  func faults() throws {
    func fault(_ change: (inout DepthCalibration) -> Void) -> CalibrationFault? {
      var calibration = Known.calibration()
      change(&calibration)
      do throws(AlignmentError) {
        _ = try DepthAligner(calibration: calibration)
      } catch .invalidValue(let fault) {
        return fault
      } catch {}
      return nil
    }
    #expect(fault { $0.depthIntrinsics?.fx = 0 }?.key == "depthIntrinsics.fx")
    #expect(fault { $0.depthIntrinsics?.fx = 0 }?.value == "0.0")
    #expect(fault { $0.colorIntrinsics?.fy = -3 }?.description.contains("-3") == true)
    #expect(fault { $0.colorIntrinsics?.cx = .nan }?.key == "colorIntrinsics.cx")
    #expect(fault { $0.colorIntrinsics?.width = 0 }?.key == "colorIntrinsics.width")
    #expect(fault { $0.depthIntrinsics?.height = 1 << 40 }?.key == "depthIntrinsics.height")
    #expect(fault { $0.depthDistortion.k5 = .infinity }?.key == "distortion.depth.k5")
    #expect(fault { $0.colorDistortion.p1 = .nan }?.key == "distortion.color.p1")
    #expect(fault { $0.colorFromDepth?.translation[1] = .nan }?.key == "colorFromDepth[7]")
    #expect(fault { $0.colorFromDepth?.rotation[0] = 1.002 }?.key == "colorFromDepth")
    #expect(fault { $0.colorFromDepth?.rotation[0] = -1 }?.key == "colorFromDepth")
    #expect(fault { $0.colorFromDepth?.rotation[0] = 1.0003 } == nil)
    func oneCamera(_ depth: Double, _ color: Double) -> CalibrationFault? {
      fault {
        ($0.registered, $0.depthIntrinsics) = (true, nil)
        ($0.depthDistortion.k1, $0.colorDistortion.k1) = (depth, color)
      }
    }
    #expect(oneCamera(0.1, 0.2)?.key == "distortion.depth")
    #expect(oneCamera(0.1, 0)?.key == "distortion.depth")
    #expect(oneCamera(0, 0.2) == nil)
    #expect(oneCamera(0.2, 0.2) == nil)
    let huge = PinholeCamera(width: 16_000, height: 16_000, fx: 1, fy: 1, cx: 0, cy: 0)
    #expect(fault { $0.colorIntrinsics = huge } != nil)
  }

  @Test(
    "Impossible parameters are named",
    arguments: [
      ("discontinuityAbsolute", AlignmentParameters(discontinuityAbsolute: -0.1)),
      ("discontinuityRelative", AlignmentParameters(discontinuityRelative: .nan)),
      ("minimumDepth", AlignmentParameters(minimumDepth: 0)),
      ("minimumDepth", AlignmentParameters(minimumDepth: .infinity)),
    ])
  func parameters(key: String, parameters: AlignmentParameters) {
    do throws(AlignmentError) {
      _ = try DepthAligner(calibration: Known.calibration(), parameters: parameters)
      Issue.record("accepted")
    } catch .invalidValue(let fault) {
      #expect(fault.key == key)
    } catch {
      Issue.record(error)
    }
  }

  @Test("Intrinsics follow a size of the same shape, and another shape is an error")
  func sizes() throws {
    let calibration = Known.calibration()
    let aligner = try DepthAligner(
      calibration: calibration, depthSize: PictureSize(width: 128, height: 96),
      colorSize: PictureSize(width: 65, height: 49))
    #expect(aligner.outputIntrinsics == Known.colorCamera.scaled(toWidth: 65, height: 49))
    #expect(
      aligner.rescaledCameras == [
        CameraRescale(
          camera: .color, from: PictureSize(width: 130, height: 98),
          to: PictureSize(width: 65, height: 49)),
        CameraRescale(
          camera: .depth, from: PictureSize(width: 64, height: 48),
          to: PictureSize(width: 128, height: 96)),
      ])
    let same = try DepthAligner(
      calibration: calibration, depthSize: PictureSize(width: 64, height: 48))
    #expect(same.rescaledCameras.isEmpty)
    // 1 % is still the same shape: 64 × 48 against 1294 × 968 (0.26 %), not against 100 × 80.
    _ = try DepthAligner(
      calibration: calibration, depthSize: PictureSize(width: 1294, height: 968))
    #expect(
      throws: AlignmentError.sizeMismatch(
        camera: .depth, calibration: PictureSize(width: 64, height: 48),
        picture: PictureSize(width: 100, height: 80))
    ) {
      try DepthAligner(
        calibration: calibration, depthSize: PictureSize(width: 100, height: 80))
    }
    #expect(throws: AlignmentError.self) {
      try DepthAligner(calibration: calibration, colorSize: PictureSize(width: 98, height: 130))
    }
    #expect(throws: AlignmentError.self) {
      try DepthAligner(calibration: calibration, colorSize: PictureSize(width: 0, height: 0))
    }
  }
}

/// Aligned depth is published under a fingerprint of its inputs: a faster kernel may not change a bit.
@Suite("The bytes of aligned depth")
struct AlignmentBytesTests {
  @Test("Random scenes give the same pictures as the first kernel that drew them, bit for bit")
  func digests() throws {
    // FNV-1a over the digests of 120 scenes with every surface: zooms from 0.6 to 14, lenses, holes, steep
    // surfaces, cameras turned and far apart, all grids. Rectangles are those of version 4 of the stage.
    var all = Digest()
    var scratch = AlignmentScratch()
    var output: [UInt16] = []
    for seed in UInt64(0)..<120 {
      for surface in AlignmentParameters.Surface.allCases {
        let scene = RandomScene(seed: seed, surface: surface)
        let aligner = try DepthAligner(
          calibration: scene.calibration, parameters: scene.parameters)
        try aligner.align(scene.depth.millimeters, scratch: &scratch, into: &output)
        var one = Digest()
        for value in output { one.add(UInt64(value)) }
        all.add(one.value)
      }
    }
    #expect(all.value == 0x16a7_ba18_564b_de1f)
  }

  @Test(
    "Quads of two by two pixels in rows of neighbors, and such with gaps, fill a plane without cracks"
  )
  func plane() throws {
    for zoom in [1.5, 2, 2.05, 2.5, 2.95] {
      let depth = PinholeCamera(width: 41, height: 31, fx: 40, fy: 40, cx: 20, cy: 15)
      let color = PinholeCamera(
        width: Int(41 * zoom), height: Int(31 * zoom), fx: 40 * zoom, fy: 40 * zoom,
        cx: 20.5 * zoom - 0.5, cy: 15.5 * zoom - 0.5)
      let aligner = try DepthAligner(
        calibration: DepthCalibration(
          registered: false, colorFromDepth: .identity, depthIntrinsics: depth,
          colorIntrinsics: color))
      var scratch = AlignmentScratch()
      var output: [UInt16] = []
      try aligner.align(
        [UInt16](repeating: 1500, count: 41 * 31), scratch: &scratch, into: &output)
      let margin = Int(zoom.rounded(.up))
      for y in margin..<(color.height - margin) {
        for x in margin..<(color.width - margin) {
          #expect(output[y * color.width + x] == 1500, "(\(x), \(y)) at \(zoom)")
        }
      }
    }
  }
}

private struct Digest {
  private(set) var value: UInt64 = 14_695_981_039_346_656_037

  mutating func add(_ word: UInt64) { value = (value ^ word) &* 1_099_511_628_211 }
}

@Suite("Aligned depth on many threads")
struct AlignmentConcurrencyTests {
  @Test(
    "Row bands give the same bytes as the whole frame", arguments: UInt64(0)..<24,
    AlignmentParameters.Surface.allCases)
  func bands(seed: UInt64, surface: AlignmentParameters.Surface) throws {
    let scene = RandomScene(seed: seed, surface: surface)
    let aligner = try DepthAligner(
      calibration: scene.calibration, parameters: scene.parameters,
      clockwiseQuarterTurns: Int(seed % 3))
    var scratch = AlignmentScratch()
    var whole: [UInt16] = []
    var banded: [UInt16] = []
    try aligner.align(scene.depth.millimeters, scratch: &scratch, into: &whole)
    for bands in [0, 1, 2, 3, 7, 1000] {
      try aligner.align(
        scene.depth.millimeters.span, bands: bands, scratch: &scratch, into: &banded)
      #expect(banded == whole, "\(bands) bands")
    }
  }

  @Test("Bands of a picture of twelve million pixels are as low as a band can count")
  func large() throws {
    let aligner = try DepthAligner(
      calibration: AlignmentGeometryTests.calibration(
        color: PinholeCamera(width: 4032, height: 3024, fx: 3600, fy: 3600, cx: 2016, cy: 1512)))
    let frame = AlignmentGeometryTests.relief().millimeters
    var scratch = AlignmentScratch()
    var (whole, banded): ([UInt16], [UInt16]) = ([], [])
    try aligner.align(frame, scratch: &scratch, into: &whole)
    try aligner.align(frame.span, bands: 2, scratch: &scratch, into: &banded)
    let isSame = whole == banded
    #expect(isSame && whole.contains { $0 > 0 })
  }

  @Test("One aligner used by many threads gives each the bytes it gives to one")
  func threads() throws {
    let scenes = (0..<4).map { RandomScene(seed: $0) }
    let aligners = try scenes.map {
      try DepthAligner(calibration: $0.calibration, parameters: $0.parameters)
    }
    let expected = try zip(aligners, scenes).map { try $0.aligned($1.depth).millimeters }
    let results = try concurrentMap(count: 64) { index in
      // Each worker's scratch meets all sizes in turn.
      var scratch = AlignmentScratch()
      var output: [UInt16] = []
      return try (0..<4).map { turn in
        let scene = (index + turn) % 4
        try aligners[scene].align(scenes[scene].depth.millimeters, scratch: &scratch, into: &output)
        return output == expected[scene]
      }
    }
    #expect(results.allSatisfy { $0.allSatisfy { $0 } })
  }
}
