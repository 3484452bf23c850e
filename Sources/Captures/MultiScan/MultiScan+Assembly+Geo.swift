import Geometry

extension MultiScan.Assembly {
  /// The one position the app notes at the start, held at frame 0's time.
  var geo: StreamState<GeoStream> {
    guard let position = contents.metadata?.position, let file = contents.metadataFile else {
      return .absent("no position was recorded")
    }
    guard !frames.isEmpty else { return .absent("no frame that the position belongs to") }
    let time = frames.lazy.compactMap(\.timestamp).first ?? Timestamp(nanoseconds: 0)
    let track = GeoTrack(positions: [
      GeoPosition(
        timestamp: frames.first?.timestamp ?? time, latitude: position.latitude,
        longitude: position.longitude, accuracy: nil)
    ])
    var description = StreamDescription(file: file, encoding: "json", frames: 1)
    description.firstTimestamp = frames.first?.timestamp
    description.lastTimestamp = frames.first?.timestamp
    return .present(GeoStream(description: description, track: track, coverage: .firstFrameOnly))
  }
}
