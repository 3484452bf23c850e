import Core

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
