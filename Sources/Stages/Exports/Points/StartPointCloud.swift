import Media
import Core

extension StartPoints {
  /// Writes the points as binary PLY: `float` coordinates, `double` in worlds above 1 km, and
  /// colors.
  func writePLY(_ name: String, comment: String, _ folder: ExportFolder) throws {
    let layout = PLYLayout(
      hasDoubleCoordinates: isFarAway, hasColor: true, comments: [comment])
    let file = try folder.create(name)
    try file.append(layout.header(points: count))
    var records = PLYPoints(layout)
    try forEachList { list in
      records.restart(reserving: list.count)
      for point in list {
        records.append(
          x: point.x, y: point.y, z: point.z, color: (point.red, point.green, point.blue))
      }
      try file.append(records.bytes)
    }
    try file.finish()
  }
}
