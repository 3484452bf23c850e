/// What `info.json` says of the whole scan.
struct ThreeDScannerAppInfo: Sendable {
  var title: String?
  /// The number of frames that the app declares.
  var declaredFrames: Int?
  /// Personal data.
  var position: (latitude: Double, longitude: Double)?
  /// Altitude of that position, in meters above mean sea level.
  var altitude: Double?

  init(_ members: JSONMembers) {
    title = members.text("title")
    declaredFrames = members.integer("numImages").flatMap { $0 >= 0 ? $0 : nil }
    position = ThreeDScannerAppFrameFile.place(members, "gpsLatitude", "gpsLongitude")
      .flatMap { $0.latitude != 0 || $0.longitude != 0 ? $0 : nil }
    altitude = members.finite("gpsAltitude")
  }
}
