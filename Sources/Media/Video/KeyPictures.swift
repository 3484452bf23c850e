import CFFmpeg
import SystemPackage

/// Decodes single pictures of a video without all the others, for previews.
public enum KeyPictures {
  /// Decodes key pictures: for each entry of `wanted` the first one at or after it, none twice, and
  /// none that the decoder complains about.
  ///
  /// - Parameters:
  ///   - track: as for `VideoDecoder`.
  ///   - order: that of the same track in `VideoIndex`.
  ///   - orientation: that of the same track in `VideoIndex`.
  ///   - wanted: display indices, ascending.
  ///   - body: receives the pictures as they are found.
  /// - Returns: how many were found; fewer than requested if key pictures are rare.
  /// - Throws: `VideoError` for a file that cannot be opened, and errors of `body`.
  ///
  /// Cost: reading the file up to the last wanted picture, and opening a decoder per picture.
  public static func read(
    _ file: FilePath, container: VideoContainer = .any, track: Int? = nil, order: PictureOrder,
    orientation: VideoOrientation, wanted: [Int], _ body: (DecodedPicture) throws -> Void
  ) throws -> Int {
    let opened = try OpenedTrack(file, container: container, track: track, order: order)
    let handle = try PacketHandle(file)
    var numbers = PacketNumbers(order, isBare: opened.isBare)
    var rest = wanted[...]
    var found = 0
    while !rest.isEmpty, try opened.source.next(into: handle.packet) {
      defer { av_packet_unref(handle.packet) }
      guard handle.packet.pointee.size > 0, let number = numbers.picture(of: handle.packet) else {
        continue
      }
      let displayIndex = order.displayIndex(number)
      guard let next = rest.first, displayIndex >= next, isKey(handle.packet, opened),
        let picture = try decode(handle.packet, displayIndex, found, opened, orientation)
      else { continue }
      try body(picture)
      found += 1
      rest = rest.drop { $0 <= displayIndex }
    }
    return found
  }

  /// Whether the picture in the packet can be decoded alone.
  private static func isKey(_ packet: UnsafePointer<AVPacket>, _ track: OpenedTrack) -> Bool {
    track.isBare ? NALUnits.beginsWithKey(packet) : packet.pointee.flags & AV_PKT_FLAG_KEY != 0
  }

  /// Decodes one packet; `nil` if its picture needs others, or is damaged.
  private static func decode(
    _ packet: UnsafeMutablePointer<AVPacket>, _ displayIndex: Int, _ outputIndex: Int,
    _ track: OpenedTrack, _ orientation: VideoOrientation
  ) throws(VideoError) -> DecodedPicture? {
    let codec = try track.decoder(1)
    guard avcodec_send_packet(codec.context, packet) >= 0 else { return nil }
    _ = avcodec_send_packet(codec.context, nil)
    guard avcodec_receive_frame(codec.context, codec.frame) >= 0, codec.damageMessages == 0 else {
      return nil
    }
    let picture = DecodedPicture(
      moving: codec.frame, outputIndex: outputIndex, displayIndex: displayIndex,
      orientation: orientation)
    return picture.flatMap { $0.isDamaged ? nil : $0 }
  }
}
