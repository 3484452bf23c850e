import CFFmpeg
import Geometry
import SystemPackage

/// A picture file: PNG or JPEG, found out from its first bytes.
public struct StillImage: Hashable, Sendable {
  public enum Format: String, Sendable {
    case png, jpeg
  }

  public var format: Format
  /// The pixels as stored.
  public var image: ColorImage
  /// How they must be turned or mirrored: 1…8 as in EXIF, 1 where the file does not say.
  public var orientation: Int
  /// Parts of a JPEG are missing or made up.
  public var isDamaged: Bool

  /// The picture as it is meant to be seen.
  public var upright: ColorImage { image.upright(orientation: orientation) }

  /// Reads the picture at `file`.
  ///
  /// JPEG pixels are those of `ffmpeg -i FILE` without its turn, or with chroma interpolated if
  /// `conversion` is accurate. A cut JPEG is read as far as it goes and marked as damaged.
  /// - Throws: `ImageError` for files that are neither, and for ones without a picture.
  public static func read(
    _ file: FilePath, conversion: ColorConversion = .ffmpeg
  ) throws(ImageError) -> StillImage {
    let bytes = try FileBytes.read(file)
    if bytes.starts(with: [0x89, 0x50, 0x4e, 0x47]) {
      return StillImage(
        format: .png, image: try PNGReader.color(in: bytes, file: file), orientation: 1,
        isDamaged: false)
    }
    guard bytes.starts(with: [0xff, 0xd8]) else {
      throw ImageError(
        file: file, what: bytes.isEmpty ? "it is empty" : "neither PNG nor JPEG", byteOffset: 0,
        remedy: "check what program wrote it")
    }
    return try readJPEG(bytes, file: file, conversion: conversion)
  }

  private static func readJPEG(
    _ bytes: [UInt8], file: FilePath, conversion: ColorConversion
  ) throws(ImageError) -> StillImage {
    let header = JPEGHeader(bytes)
    guard header.isPlausible(fileBytes: bytes.count) else {
      throw ImageError(
        file: file,
        what: header.width == 0
          ? "a JPEG without a size"
          : "a JPEG of \(header.width)x\(header.height) pixels in \(bytes.count) bytes",
        remedy: "copy the file again")
    }
    do {
      let decoder = try CodecBox(codec: AV_CODEC_ID_MJPEG, file: file)
      guard let picture = try decoder.picture(from: bytes, file: file) else {
        throw ImageError(file: file, what: "no picture could be decoded")
      }
      var converter = ColorConverter(conversion: conversion)
      var rgb: [UInt8] = []
      try converter.convert(picture, into: &rgb)
      return StillImage(
        format: .jpeg, image: ColorImage(width: picture.width, height: picture.height, rgb: rgb),
        orientation: header.orientation,
        isDamaged: picture.isDamaged || decoder.damageMessages > 0)
    } catch let error as ImageError {
      throw error
    } catch let error as VideoError {
      throw ImageError(file: file, what: error.what, remedy: error.remedy)
    } catch {
      throw ImageError(file: file, what: "\(error)")
    }
  }
}

extension CodecBox {
  /// The picture that a single packet holds, `nil` if none comes out.
  fileprivate func picture(
    from bytes: [UInt8], file: FilePath
  ) throws(VideoError) -> DecodedPicture? {
    guard av_new_packet(packet, Int32(clamping: bytes.count)) >= 0, let data = packet.pointee.data
    else { throw VideoError(file: file, what: "no memory for the file") }
    UnsafeMutableRawBufferPointer(start: data, count: Int(packet.pointee.size))
      .copyBytes(from: bytes.prefix(Int(packet.pointee.size)))
    _ = avcodec_send_packet(context, packet)
    _ = avcodec_send_packet(context, nil)
    av_packet_unref(packet)
    guard avcodec_receive_frame(context, frame) >= 0 else { return nil }
    return DecodedPicture(
      moving: frame, ordinal: 0, presentationTicks: nil, orientation: .upright)
  }
}
