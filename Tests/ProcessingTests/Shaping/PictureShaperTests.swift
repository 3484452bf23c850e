@testable import Core
@testable import Processing
import TestSupport
import Testing

@Suite("Undistorted and smaller pictures")
struct PictureShaperTests {
  private static let camera = LensCamera(
    pinhole: PinholeCamera(width: 40, height: 30, fx: 36, fy: 35, cx: 19.2, cy: 14.9),
    distortion: LensDistortion(openCVOrder: [-0.2, 0.05, 0.004, -0.003, 0.01]))

  private static func noise<Value: FixedWidthInteger>(
    _ width: Int, _ height: Int, seed: UInt64
  ) -> [Value] {
    var random = SeededGenerator(seed: seed)
    return (0..<(width * height * 3)).map { _ in
      Value.random(in: Value.min...Value.max, using: &random)
    }
  }

  /// The mean of the area of each pixel, in double precision, by overlaps.
  private static func mean(
    _ rgb: [some BinaryInteger], _ width: Int, _ height: Int, _ newWidth: Int, _ newHeight: Int
  ) -> [Double] {
    let (sx, sy) = (Double(width) / Double(newWidth), Double(height) / Double(newHeight))
    func overlap(_ index: Int, _ start: Double, _ end: Double) -> Double {
      max(0, min(end, Double(index + 1)) - max(start, Double(index)))
    }
    var result: [Double] = []
    for j in 0..<newHeight {
      for i in 0..<newWidth {
        for channel in 0..<3 {
          var sum = 0.0
          for y in 0..<height {
            let v = overlap(y, Double(j) * sy, Double(j + 1) * sy)
            if v == 0 { continue }
            for x in 0..<width {
              sum +=
                v * overlap(x, Double(i) * sx, Double(i + 1) * sx)
                * Double(rgb[(y * width + x) * 3 + channel])
            }
          }
          result.append(sum / (sx * sy))
        }
      }
    }
    return result
  }

  @Test(
    "Each pixel of a smaller picture is the mean of its area",
    arguments: [(20, 15), (40, 30), (13, 7), (39, 29), (1, 1), (40, 1), (27, 30)])
  func area(_ newWidth: Int, _ newHeight: Int) {
    let rgb: [UInt8] = Self.noise(40, 30, seed: 3)
    var reduction = AreaReduction()
    var found: [UInt8] = []
    reduction.reduce(rgb, width: 40, height: 30, toWidth: newWidth, height: newHeight, into: &found)
    let wanted = Self.mean(rgb, 40, 30, newWidth, newHeight)
    #expect(found.count == wanted.count)
    for (value, mean) in zip(found, wanted) { #expect(abs(Double(value) - mean) < 0.502) }
    let wide: [UInt16] = Self.noise(40, 30, seed: 3)
    var of16: [UInt16] = []
    reduction.mean(wide, 40, 30, newWidth, newHeight, into: &of16)
    let exact = Self.mean(wide, 40, 30, newWidth, newHeight)
    #expect(of16.count == exact.count)
    for (value, mean) in zip(of16, exact) { #expect(abs(Double(value) - mean) < 0.55) }
  }

  @Test("The brightest and the darkest value stay what they are, of 8 and of 16 bits")
  func ends() throws {
    // Without distortion every pixel of the pinhole has a source.
    let camera = LensCamera(pinhole: Self.camera.pinhole, distortion: .none)
    for sizing in [PictureSizing.percent(37), .percent(50), .percent(100)] {
      var shaper = PictureShaper(PictureShape(undistorts: true, sizing: sizing))
      for value in [UInt8.min, .max] {
        let picture = [UInt8](repeating: value, count: 3600)
        let found = try shaper.shaped(picture, width: 40, height: 30, camera: camera)
        #expect(Set(found.rgb) == [value])
      }
      for value in [UInt16.min, .max] {
        let picture = [UInt16](repeating: value, count: 3600)
        let found = try shaper.shaped(picture, width: 40, height: 30, camera: camera)
        #expect(Set(found.rgb) == [value])
      }
    }
  }

  @Test("Sizes that do not fit give black pictures, and the next picture is right")
  func wrongSize() {
    var reduction = AreaReduction()
    var found: [UInt8] = [9]
    reduction.reduce([1, 2, 3], width: 2, height: 2, toWidth: 1, height: 1, into: &found)
    #expect(found == [0, 0, 0])
    reduction.reduce([1, 2, 3], width: 1, height: 1, toWidth: 2, height: 1, into: &found)
    #expect(found == [0, 0, 0, 0, 0, 0])
    reduction.reduce([1, 2, 3], width: 1, height: 1, toWidth: 1, height: 1, into: &found)
    #expect(found == [1, 2, 3])
    var wide: [UInt16] = [9]
    reduction.mean([1, 2, 3], 2, 2, 1, 1, into: &wide)
    #expect(wide == [0, 0, 0])
    reduction.mean([1, 2, 60_000], 1, 1, 1, 1, into: &wide)
    #expect(wide == [1, 2, 60_000])
  }

  /// By the definition: bilinear in double precision at the lens's position, black outside.
  private static func undistorted(_ rgb: [some BinaryInteger], to target: PinholeCamera) -> [Double]
  {
    let (width, height) = (camera.pinhole.width, camera.pinhole.height)
    var result: [Double] = []
    for j in 0..<target.height {
      for i in 0..<target.width {
        let x = (Double(i) - target.cx) / target.fx
        let y = (Double(j) - target.cy) / target.fy
        let lens = camera.distortion.distorted(x: x, y: y)
        let isSeen = (x * x + y * y).squareRoot() < camera.radiusLimit
        let u = lens.x * camera.pinhole.fx + camera.pinhole.cx
        let v = lens.y * camera.pinhole.fy + camera.pinhole.cy
        for channel in 0..<3 {
          var sum = 0.0
          for row in 0..<height where isSeen && abs(Double(row) - v) < 1 {
            for column in 0..<width where abs(Double(column) - u) < 1 {
              sum +=
                (1 - abs(Double(column) - u)) * (1 - abs(Double(row) - v))
                * Double(rgb[(row * width + column) * 3 + channel])
            }
          }
          result.append(sum)
        }
      }
    }
    return result
  }

  @Test(
    "An undistorted picture is the lens's picture, interpolated where its rays pass, black elsewhere",
    arguments: [nil, 0, 0.5, 1] as [Double?])
  func interpolated(alpha: Double?) throws {
    let rgb: [UInt8] = Self.noise(40, 30, seed: 4)
    let shape = PictureShape(undistorts: true, alpha: alpha)
    var shaper = PictureShaper(shape)
    let found = try shaper.shaped(rgb, width: 40, height: 30, camera: Self.camera)
    let target = try #require(shape.camera(from: Self.camera)).pinhole
    let wanted = Self.undistorted(rgb, to: target)
    #expect(found.width == 40 && found.height == 30 && found.rgb.count == wanted.count)
    for (value, exact) in zip(found.rgb, wanted) { #expect(abs(Double(value) - exact) < 0.7) }
    let wide: [UInt16] = Self.noise(40, 30, seed: 4)
    let of16 = try shaper.shaped(wide, width: 40, height: 30, camera: Self.camera)
    let exact = Self.undistorted(wide, to: target)
    #expect(of16.width == 40 && of16.height == 30 && of16.rgb.count == exact.count)
    // Weights are multiples of 1 / 2048: half a step in either direction of values up to 65,535.
    for (value, exact) in zip(of16.rgb, exact) { #expect(abs(Double(value) - exact) < 32.6) }
    // Between two pictures of 16 bits one of 8 bits changes nothing.
    let narrow = try shaper.shaped(rgb, width: 40, height: 30, camera: Self.camera)
    #expect(narrow.rgb == found.rgb)
    // alpha 0 shows nothing without source, alpha 1 some of it.
    let nothing = try Self.black(of: shape)
    #expect(alpha == 0 ? nothing == 0 : alpha == 1 ? nothing > 5 : true, "\(nothing)")
  }

  /// Pixels of a white picture that become black.
  private static func black(of shape: PictureShape) throws -> Int {
    var shaper = PictureShaper(shape)
    let white = [UInt8](repeating: 255, count: 40 * 30 * 3)
    let found = try shaper.shaped(white, width: 40, height: 30, camera: camera)
    return (0..<(40 * 30)).count { found.rgb[$0 * 3] == 0 }
  }

  @Test(
    "A picture is undistorted at full size, then reduced; a map is made anew for another camera")
  func order() throws {
    let rgb: [UInt8] = Self.noise(40, 30, seed: 5)
    let other = Self.camera.with(
      PinholeCamera(width: 40, height: 30, fx: 30, fy: 30, cx: 21, cy: 14))
    var both = PictureShaper(PictureShape(undistorts: true, sizing: .percent(40)))
    for camera in [Self.camera, other, Self.camera] {
      var lens = PictureShaper(PictureShape(undistorts: true))
      var size = PictureShaper(PictureShape(sizing: .percent(40)))
      let straight = try lens.shaped(rgb, width: 40, height: 30, camera: camera)
      let wanted = try size.shaped(straight.rgb, width: 40, height: 30, camera: nil)
      let shared = (Self.camera, try PictureShaper.map(Self.camera, both.shape))
      let found = try both.shaped(rgb, width: 40, height: 30, camera: camera, shared: shared)
      #expect(found.rgb == wanted.rgb && found.width == 16 && found.height == 12)
      let wide: [UInt16] = Self.noise(40, 30, seed: 6)
      let straightWide = try lens.shaped(wide, width: 40, height: 30, camera: camera)
      let wantedWide = try size.shaped(straightWide.rgb, width: 40, height: 30, camera: nil)
      let foundWide = try both.shaped(wide, width: 40, height: 30, camera: camera, shared: shared)
      #expect(foundWide.rgb == wantedWide.rgb && foundWide.width == 16 && foundWide.height == 12)
    }
  }

  @Test(
    "Depth takes the nearest pixel: every value was measured, and nothing lies where there is no source"
  )
  func nearest() throws {
    let (width, height) = (40, 30)
    let values = (0..<(width * height)).map { UInt16($0 + 1) }
    let target = try #require(Self.camera.undistortedPinhole(alpha: 1))
    let map = UndistortionMap(from: Self.camera, to: target, isNearest: true)
    var found: [UInt16] = []
    map.pick(values, into: &found)
    var holes = 0
    for j in 0..<height {
      for i in 0..<width {
        let position = Self.camera.projection(
          x: (Double(i) - target.cx) / target.fx, y: (Double(j) - target.cy) / target.fy, z: 1)
        let value = found[j * width + i]
        #expect(map.hasSource(j * width + i) == (value != 0))
        guard value != 0 else {
          holes += 1
          if let position {
            let isInside =
              position.u > -0.499 && position.v > -0.499 && position.u < Double(width) - 0.501
              && position.v < Double(height) - 0.501
            #expect(!isInside)
          }
          continue
        }
        let at = try #require(position)
        #expect(abs(at.u - Double(Int(value - 1) % width)) <= 0.5001)
        #expect(abs(at.v - Double(Int(value - 1) / width)) <= 0.5001)
      }
    }
    #expect(holes > 20)
    map.pick([UInt16(7)], into: &found)
    #expect(found.allSatisfy { $0 == 0 })
  }

  @Test(
    "Aligned depth belongs to the shaped picture: what color shows at a place, depth has there",
    arguments: 0..<4)
  func aligned(turns: Int) throws {
    // One camera for both: each depth pixel lies where the lens puts its ray.
    let calibration = DepthCalibration(
      registered: true, colorIntrinsics: Self.camera.pinhole,
      colorDistortion: Self.camera.distortion)
    let shape = PictureShape(undistorts: true, alpha: 0.5, sizing: .percent(50))
    let size = PictureSize(width: 40, height: 30)
    let plain = try DepthAligner(
      calibration: calibration, depthSize: size, colorSize: size, clockwiseQuarterTurns: turns)
    let shaped = try DepthAligner(
      calibration: calibration, depthSize: size, colorSize: size, clockwiseQuarterTurns: turns,
      shape: shape)
    let upright = Self.camera.turnedClockwise(quarterTurns: turns)
    let wanted = try #require(shape.camera(from: upright)).pinhole
    let found = shaped.outputIntrinsics
    #expect(plain.outputIntrinsics == upright.pinhole)
    #expect(found.width == wanted.width && found.height == wanted.height)
    for (a, b) in [
      (found.fx, wanted.fx), (found.fy, wanted.fy), (found.cx, wanted.cx), (found.cy, wanted.cy),
    ] {
      #expect(abs(a - b) < 1e-9)
    }
    // A slanted plane: its depth at a pixel follows from the pinhole alone.
    let depth = (0..<1200).map { index -> UInt16 in
      let ray = Self.camera.ray(u: Double(index % 40), v: Double(index / 40)) ?? (0, 0)
      return UInt16((2000 / (1 - 0.3 * ray.x)).rounded())
    }
    var scratch = AlignmentScratch()
    var pixels: [UInt16] = []
    try shaped.align(depth, scratch: &scratch, into: &pixels)
    let stored = found.turnedClockwise(quarterTurns: 4 - turns)
    var measured = 0
    for index in pixels.indices where pixels[index] != 0 {
      let (i, j) = (Double(index % found.width), Double(index / found.width))
      // The position in the stored picture.
      let (w, h) = (Double(found.width - 1), Double(found.height - 1))
      let u = [i, j, w - i, h - j][turns]
      let x = (u - stored.cx) / stored.fx
      #expect(abs(Double(pixels[index]) - 2000 / (1 - 0.3 * x)) <= 3)
      measured += 1
    }
    #expect(measured > 150)
  }
}
