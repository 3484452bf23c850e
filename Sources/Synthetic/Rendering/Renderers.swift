import CRendering
import Core

/// Renders the pictures of a color camera; keeps its buffers from picture to picture (about 24 MB
/// at 1296x968).
struct ColorRenderer {
  let room: Room
  /// Parameters may change between pictures, the size must not.
  var camera: PinholeCamera
  let settings: PictureSettings
  private let noiseKey: UInt64
  private let isWide: Bool
  /// The picture as the shader leaves it.
  private var sharp: [Float]
  private var rgb: [UInt8]
  /// Enough bands for all cores to end at about the same time.
  private static let bands = 16

  /// - Parameter isWide: whether vectors of eight numbers are used; only where the processor has them.
  init(
    room: Room, camera: PinholeCamera, settings: PictureSettings, seed: UInt64,
    isWide: Bool = PixelLoops.hasWide
  ) {
    self.room = room
    self.camera = camera
    self.settings = settings
    self.isWide = isWide
    var random = SeededRandom(seed: seed, "color noise")
    noiseKey = random.next()
    sharp = Array(
      repeating: 0, count: PixelLoops.rowLength(width: camera.width) * camera.height)
    rgb = Array(repeating: 0, count: camera.width * camera.height * 3)
  }

  /// Has the next picture rendered into the pixels of an earlier one that is no longer needed; `nil`
  /// for none. Without this a picture that is still in use is copied.
  mutating func reuse(_ pixels: [UInt8]?) {
    if let pixels, pixels.count == rgb.count { rgb = pixels }
  }

  /// The picture with an exposure centered on `state`.
  ///
  /// Motion blur averages along each pixel's own path, computed exactly from its depth and the
  /// camera's motion; occlusion that changes during the exposure is not modeled. Cost on one core:
  /// about 20 ms at 1296x968 with wide vectors, 35 ms without.
  mutating func render(frame: Int, state: MotionState) -> ColorImage {
    let view = PreparedView(
      room: room, camera: camera, viewpoint: state.viewpoint(), isWide: isWide)
    let shader = Shader(room: room, view: view)
    let width = camera.width
    let length = PixelLoops.rowLength(width: width)
    withConcurrentRowBands(
      of: &sharp, rows: camera.height, rowLength: length, bands: Self.bands
    ) { rows, planes in
      var depths = Array(repeating: 1.0, count: width + PixelLoops.group)
      var surfaces = Array(repeating: Int32(0), count: width)
      for row in rows {
        var depthSpan = depths.mutableSpan
        var surfaceSpan = surfaces.mutableSpan
        view.castRow(row, depths: &depthSpan, surfaces: &surfaceSpan)
        shader.shadeRow(
          row, depths: depths.span, surfaces: surfaces.span, into: &planes,
          at: (row - rows.lowerBound) * length)
      }
    }
    let sensor = ColorSensor(
      camera: camera, settings: settings, frame: frame, noiseKey: noiseKey, state: state,
      isWide: isWide)
    let sharp = sharp
    withConcurrentRowBands(
      of: &rgb, rows: camera.height, rowLength: width * 3, bands: Self.bands
    ) { rows, bytes in
      for row in rows {
        sensor.exposeRow(
          row, of: sharp.span, into: &bytes, at: (row - rows.lowerBound) * width * 3)
      }
    }
    if settings.showsFrameCode { FrameCode.draw(frame, into: &rgb, width: width) }
    return ColorImage(width: width, height: camera.height, rgb: rgb)
  }
}

/// Models a color sensor: motion blur, noise and quantization to eight bits.
///
/// Motion blur averages a picture along the path of each pixel's point during the exposure: a straight
/// line in the picture, computed from the depth of the pixel and the motion of the camera. Up to six
/// places on it are averaged.
struct ColorSensor {
  private let camera: PinholeCamera
  private let frame: Int
  private let noiseKey: UInt64
  private let isWide: Bool
  private let isBlurred: Bool
  /// Motion of the camera during the exposure, camera axes: meters and radians.
  private let shift: SIMD3<Float>
  private let turn: SIMD3<Float>
  private let directions: [Float]
  /// Variance of the noise in steps of 8 bits: `readout + shot · brightness`.
  private let readout: Float
  private let shot: Float

  init(
    camera: PinholeCamera, settings: PictureSettings, frame: Int, noiseKey: UInt64,
    state: MotionState, isWide: Bool
  ) {
    self.camera = camera
    self.frame = frame
    self.noiseKey = noiseKey
    self.isWide = isWide
    let exposure = settings.exposureSeconds
    isBlurred = exposure > 0
    shift = SIMD3<Float>(state.worldFromCamera.transposed * state.velocity * exposure)
    turn = SIMD3<Float>(state.angularVelocity * exposure)
    directions = PixelLoops.directions(
      camera.width, center: camera.cx, pixelSize: Float(1 / camera.fx))
    // Half of a mid-gray pixel's variance is shot noise, half readout noise.
    let variance = Float(settings.noiseSteps * settings.noiseSteps)
    readout = variance / 2
    shot = variance
  }

  /// Writes row `v` as RGB bytes from index `start` on; `sharp` is the whole picture as the shader leaves it.
  ///
  /// Cost: some nanoseconds a pixel where the paths of a group of pixels are alike, as they mostly are on
  /// surfaces; more where they are not, because each is then followed on its own.
  func exposeRow(
    _ v: Int, of sharp: Span<Float>, into rgb: inout MutableSpan<UInt8>, at start: Int
  ) {
    precondition((0..<camera.height).contains(v))
    precondition(start >= 0 && start + 3 * camera.width <= rgb.count)
    precondition(sharp.count >= PixelLoops.rowLength(width: camera.width) * camera.height)
    let y = Float((Double(v) - camera.cy) / camera.fy)
    let random = SeededRandom(key: noiseKey, frame: frame, row: v)
    rgb.withUnsafeMutableBufferPointer { rgb in
      let bytes = rgb.baseAddress.map { $0 + start }
      sharp.withUnsafeBufferPointer { sharp in
        NoiseTable.values.withUnsafeBufferPointer { noise in
          directions.withUnsafeBufferPointer { directions in
            var sensor = scanmill_sensor(
              width: Int64(camera.width), height: Int64(camera.height),
              stride: Int64(PixelLoops.stride(width: camera.width)), is_blurred: isBlurred,
              fx: Float(camera.fx), fy: Float(camera.fy), shift: scanmill_vector(shift),
              turn: scanmill_vector(turn), readout: readout, shot: shot,
              noise: noise.baseAddress, directions: directions.baseAddress,
              picture: sharp.baseAddress)
            scanmill_render_expose(isWide, &sensor, Int64(v), y, random.state, bytes)
          }
        }
      }
    }
  }
}

/// Computes the color of hits from texture, lamps and distance, before lens and sensor.
struct Shader {
  private let view: PreparedView
  private let textures: TextureSet
  private let surfaces: [scanmill_surface]
  private let lamps: [scanmill_lamp]
  /// Size of a pixel in meters at a distance of one meter.
  private let pixelSize: Float
  private let directions: [Float]

  init(room: Room, view: PreparedView) {
    self.view = view
    textures = room.textures
    surfaces = room.surfaces.map { scanmill_surface($0) }
    lamps = room.lamps.map {
      scanmill_lamp(position: scanmill_vector($0.position), power: $0.power)
    }
    pixelSize = Float(1 / view.camera.fx)
    directions = PixelLoops.directions(
      view.camera.width, center: view.camera.cx, pixelSize: pixelSize)
  }

  /// Computes red, green, blue (1 = white; surfaces close to a lamp may exceed it) and the inverse
  /// depth in 1/m of row `v`, one plane after the other from index `start` on. `depths` hold a group more numbers above 0 than
  /// the row; `surfaces` are indices into those of the scene.
  func shadeRow(
    _ v: Int, depths: Span<Double>, surfaces: Span<Int32>, into planes: inout MutableSpan<Float>,
    at start: Int
  ) {
    let width = view.camera.width
    precondition(depths.count >= width + PixelLoops.group && surfaces.count >= width)
    precondition(start >= 0 && start + PixelLoops.rowLength(width: width) <= planes.count)
    let y = Float((Double(v) - view.camera.cy) / view.camera.fy)
    planes.withUnsafeMutableBufferPointer { planes in
      let row = planes.baseAddress.map { $0 + start }
      withScene { scene in
        depths.withUnsafeBufferPointer { depths in
          surfaces.withUnsafeBufferPointer { surfaces in
            scanmill_render_shade(
              view.isWide, &scene, y, depths.baseAddress, surfaces.baseAddress, row)
          }
        }
      }
    }
  }

  private func withScene(_ body: (inout scanmill_scene) -> Void) {
    let turn = view.viewpoint.worldFromCamera
    directions.withUnsafeBufferPointer { directions in
      surfaces.withUnsafeBufferPointer { surfaces in
        lamps.withUnsafeBufferPointer { lamps in
          textures.texels.withUnsafeBufferPointer { texels in
            var scene = scanmill_scene(
              width: Int64(view.camera.width),
              stride: Int64(PixelLoops.stride(width: view.camera.width)),
              position: scanmill_vector(SIMD3<Float>(view.viewpoint.position)),
              right: scanmill_vector(SIMD3<Float>(turn.x)),
              down: scanmill_vector(SIMD3<Float>(turn.y)),
              forward: scanmill_vector(SIMD3<Float>(turn.z)), pixel_size: pixelSize,
              directions: directions.baseAddress, surfaces: surfaces.baseAddress,
              lamps: lamps.baseAddress, lamp_count: Int64(lamps.count),
              texels: texels.baseAddress)
            body(&scene)
          }
        }
      }
    }
  }
}

extension scanmill_surface {
  fileprivate init(_ surface: Surface) {
    let material = surface.material
    let isSphere = if case .sphere = surface.shape { true } else { false }
    self.init(
      is_sphere: isSphere, texture: UInt32(material.texture.rawValue),
      texels_per_meter: material.texelsPerMeter, origin: scanmill_vector(surface.origin),
      along: scanmill_vector(surface.along), down: scanmill_vector(surface.down),
      normal: scanmill_vector(surface.normal), dark: scanmill_vector(material.dark),
      span: scanmill_vector(material.light - material.dark))
  }
}

/// The degradation that a color camera adds.
struct PictureSettings: Hashable, Codable {
  /// Exposure time in seconds; 0 = no motion blur.
  var exposureSeconds: Double = 1.0 / 60
  /// Deviation of the noise of a mid-gray pixel, in steps of 8 bits; 0 = none. A phone indoors has about
  /// 3 before its own processing and 1 after it.
  var noiseSteps: Double = 1.2
  /// Whether the top eighth of each picture shows the frame's number as sixteen black or white
  /// blocks, the most significant bit left.
  var showsFrameCode: Bool = false
}

/// Encodes a number in a picture so that it survives video compression: sixteen adjacent blocks
/// fill the top eighth, white = 1, black = 0, the most significant bit on the left.
enum FrameCode {
  static let bits = 16

  /// A description of how to read the number.
  static let howToRead =
    "sixteen blocks side by side fill the top eighth of the picture; block k (0 = left) covers columns floor(k*W/16) to floor((k+1)*W/16)-1; white = 1, black = 0, most significant bit left; read the middle of each block, threshold 128; the number is the capture index that the picture was made for"

  /// `number` is taken modulo 65,536; `rgb` holds whole rows of `width` pixels.
  static func draw(_ number: Int, into rgb: inout [UInt8], width: Int) {
    guard width >= bits else { return }
    let height = rgb.count / (3 * width)
    for row in 0..<(height / 8) {
      for block in 0..<bits {
        let value: UInt8 = number >> (bits - 1 - block) & 1 == 1 ? 255 : 0
        for column in (block * width / bits)..<((block + 1) * width / bits) {
          for channel in 0..<3 { rgb[(row * width + column) * 3 + channel] = value }
        }
      }
    }
  }

  /// The number in a picture of `width` pixels a row.
  static func read(rgb: [UInt8], width: Int) -> Int {
    guard width >= bits else { return 0 }
    let row = rgb.count / (3 * width) / 16
    return (0..<bits).reduce(0) { number, block in
      let column = (block * width / bits + (block + 1) * width / bits) / 2
      return number << 1 | (rgb[(row * width + column) * 3 + 1] >= 128 ? 1 : 0)
    }
  }
}

/// What the loops of `CRendering` need to know.
enum PixelLoops {
  /// Whether this processor has vectors of eight numbers. The results do not depend on it.
  static let hasWide = scanmill_render_has_wide()
  /// Pixels that are computed together: what a row has more than the picture is wide.
  static let group = Int(SCANMILL_RENDER_GROUP)
  private static let planes = Int(SCANMILL_RENDER_PLANES)

  /// Numbers of a row of one plane of a picture: whole lines of the processor's cache, so that no number of
  /// a group lies in two of them.
  static func stride(width: Int) -> Int { (width + group + 15) / 16 * 16 }

  /// Numbers of a row of a picture.
  static func rowLength(width: Int) -> Int { planes * stride(width: width) }

  /// x of the direction of every column, and of those that fill the last group.
  static func directions(_ width: Int, center: Double, pixelSize: Float) -> [Float] {
    let center = Float(center)
    return (0..<width + group).map { (Float($0) - center) * pixelSize }
  }
}

extension scanmill_vector {
  init(_ vector: SIMD3<Float>) {
    self.init(x: vector.x, y: vector.y, z: vector.z)
  }

  /// Without the fourth lane.
  init(_ vector: SIMD4<Float>) {
    self.init(x: vector.x, y: vector.y, z: vector.z)
  }
}

/// Renders exact depth: distances along the optical axis in meters, row by row.
struct DepthRenderer {
  let room: Room
  /// Parameters may change between pictures, the size must not.
  var camera: PinholeCamera
  private(set) var meters: [Double]
  private static let bands = 16

  init(room: Room, camera: PinholeCamera) {
    self.room = room
    self.camera = camera
    meters = Array(repeating: 0, count: camera.width * camera.height)
  }

  /// Fills `meters`. Cost on one core: about 10 ms at 640x480.
  mutating func render(_ viewpoint: Viewpoint) {
    let view = PreparedView(room: room, camera: camera, viewpoint: viewpoint)
    let width = camera.width
    withConcurrentRowBands(
      of: &meters, rows: camera.height, rowLength: width, bands: Self.bands
    ) { rows, meters in
      var depths = Array(repeating: 0.0, count: width)
      var surfaces = Array(repeating: Int32(0), count: width)
      for row in rows {
        var depthSpan = depths.mutableSpan
        var surfaceSpan = surfaces.mutableSpan
        view.castRow(row, depths: &depthSpan, surfaces: &surfaceSpan)
        let start = (row - rows.lowerBound) * width
        for column in 0..<width { meters[start + column] = depths[column] }
      }
    }
  }

  /// The last picture in millimeters, rounded to nearest; depths above 65,535 become 0.
  var millimeters: DepthImage {
    DepthImage(
      width: camera.width, height: camera.height,
      millimeters: meters.map { Core.millimeters(fromMeters: $0) })
  }
}
