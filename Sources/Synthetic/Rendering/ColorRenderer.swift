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
