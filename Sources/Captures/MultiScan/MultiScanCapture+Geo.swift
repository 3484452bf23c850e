import Core

extension MultiScanCapture {
  /// The single position that the app records at the start, at frame 0's time.
  var geo: StreamState<GeoStream> {
    guard let position = contents.metadata?.position, let file = contents.metadataFile else {
      return .absent("no position was recorded")
    }
    guard !frames.frames.isEmpty else { return .absent("no frame that the position belongs to") }
    let time = frames.frames.lazy.compactMap(\.timestamp).first ?? Timestamp(nanoseconds: 0)
    let track = GeoTrack(positions: [
      GeoPosition(
        timestamp: frames.frames.first?.timestamp ?? time, latitude: position.latitude,
        longitude: position.longitude, accuracy: nil)
    ])
    var description = StreamDescription(file: file, encoding: "json", frames: 1)
    description.firstTimestamp = frames.frames.first?.timestamp
    description.lastTimestamp = frames.frames.first?.timestamp
    return .present(GeoStream(description: description, track: track, coverage: .firstFrameOnly))
  }
}
