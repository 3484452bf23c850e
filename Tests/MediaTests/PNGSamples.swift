import Foundation
import Testing

/// Small PNG files made by another program (Python's zlib), in base64.
enum PNGSamples {
  private static func base64(_ text: String) -> [UInt8] {
    Array(Data(base64Encoded: text, options: .ignoreUnknownCharacters) ?? Data())
  }

  struct Color: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var bytes: [UInt8]
    var rgb: [UInt8]
  }

  /// 3x2 pixels of 16-bit gray: 0 1 2 / 255 256 65535.
  static let gray16: [UInt8] = base64(
    """
    iVBORw0KGgoAAAANSUhEUgAAAAMAAAACEAAAAADoj+WFAAAAFklEQVR42mNgYGBgZGBiYPjPyPD/PwAIJAMCfk/B
    WAAAAABJRU5ErkJggg==
    """)

  /// A header of 32,768 x 32,768 pixels of 16 bits and two bytes of data.
  static let bomb: [UInt8] = base64("iVBORw0KGgoAAAANSUhEUgAAgAAAAIAAEAAAAACxhyDgAAAACklEQVR42g==")

  /// 2x2 pixels in several kinds of file, with the RGB values they stand for.
  static let colors: [Color] = [
    Color(
      testDescription: "8-bit RGB",
      bytes: base64(
        """
        iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAAFklEQVR42mNgZGL+z9DAwM7BeSLFCAASEgL8jC8W
        vQAAAABJRU5ErkJggg==
        """),
      rgb: [1, 2, 3, 255, 0, 128, 7, 8, 9, 200, 100, 50]),
    Color(
      testDescription: "8-bit RGB with alpha",
      bytes: base64(
        """
        iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAYAAABytg0kAAAAGklEQVR42mNgZGJm+M/QwMnAzsH5/0SKESMAHY8E
        BeYiKloAAAAASUVORK5CYII=
        """),
      rgb: [1, 2, 3, 255, 0, 128, 7, 8, 9, 200, 100, 50]),
    Color(
      testDescription: "palette with transparency",
      bytes: base64(
        """
        iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAMAAABFaP0WAAAADFBMVEUBAgP/AIAHCAnIZDLayZOqAAAAAnRSTlMA
        gJsrThgAAAAOSURBVHjaY2BgZGBiBgAAEQAHg8pkZAAAAABJRU5ErkJggg==
        """),
      rgb: [1, 2, 3, 255, 0, 128, 7, 8, 9, 200, 100, 50]),
    Color(
      testDescription: "palette of 2 bits",
      bytes: base64(
        """
        iVBORw0KGgoAAAANSUhEUgAAAAIAAAACAgMAAAAP2OW3AAAADFBMVEUBAgP/AIAHCAnIZDLayZOqAAAADElEQVR4
        2mMQYNgAAADkAMEZVTv7AAAAAElFTkSuQmCC
        """),
      rgb: [1, 2, 3, 255, 0, 128, 7, 8, 9, 200, 100, 50]),
    Color(
      testDescription: "8-bit gray",
      bytes: base64(
        """
        iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAAAAABX3VL4AAAADklEQVR42mNg+M8gyAkABC0BGtRZmmsAAAAASUVO
        RK5CYII=
        """),
      rgb: [0, 0, 0, 255, 255, 255, 17, 17, 17, 9, 9, 9]),
    Color(
      testDescription: "8-bit gray with alpha",
      bytes: base64(
        """
        iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAQAAADYv8WvAAAAEklEQVR42mNgYPzPxCDIzMkCAAd6ASQohooBAAAA
        AElFTkSuQmCC
        """),
      rgb: [0, 0, 0, 255, 255, 255, 17, 17, 17, 9, 9, 9]),
    Color(
      testDescription: "gray of 1 bit",
      bytes: base64(
        """
        iVBORw0KGgoAAAANSUhEUgAAAAIAAAACAQAAAABazTCJAAAADElEQVR42mNwYGgAAAFEAMEEh8/6AAAAAElFTkSu
        QmCC
        """),
      rgb: [0, 0, 0, 255, 255, 255, 255, 255, 255, 0, 0, 0]),
    Color(
      testDescription: "16-bit RGB, rounded",
      bytes: base64(
        """
        iVBORw0KGgoAAAANSUhEUgAAAAIAAAACEAIAAACtREYwAAAAI0lEQVR42mNgZGRiYmb+/5+BoaGBgW0x+xKOpSdS
        UhgMzwEAT/UHmyumNwIAAAAASUVORK5CYII=
        """),
      rgb: [1, 2, 3, 255, 0, 128, 7, 8, 9, 200, 100, 50]),
  ]
}
