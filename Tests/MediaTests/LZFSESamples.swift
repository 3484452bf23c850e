import Foundation

/// Streams of the reference encoder (lzfse 1.0, through pyliblzfse 0.4.1) and what they hold.
enum LZFSESamples {
  struct Sample: Sendable, CustomStringConvertible {
    var description: String
    var stream: [UInt8]
    var content: [UInt8]
  }

  static let all = [
    Sample("raw bytes", raw, noise(20)),
    Sample("LZVN", lzvn, text(500)),
    Sample("LZVN with long matches", lzvnlong, [UInt8](repeating: 0, count: 3000) + text(600)),
    Sample("packed tables, matches", fse, text(6000)),
    Sample("packed tables, floats", floats, sampleFloats),
    Sample("packed tables, literals", noise, noise(5000).map { $0 & 3 }),
    // The stream of the sample with matches, its header written in the other form; checked with the reference decoder.
    Sample("plain tables", plain, text(6000)),
  ]

  private static func text(_ count: Int) -> [UInt8] {
    let line = Array("The quick brown fox jumps over the lazy dog. ".utf8)
    return (0..<count).map { line[$0 % line.count] }
  }

  private static func noise(_ count: Int) -> [UInt8] {
    var state: UInt32 = 1
    return (0..<count).map { _ in
      state = state &* 1_664_525 &+ 1_013_904_223
      return UInt8(state >> 24)
    }
  }

  private static let sampleFloats: [UInt8] = (0..<1500).flatMap { index in
    let bits = (1 + Float((index * index) % 97) / 64).bitPattern
    return (0..<4).map { UInt8(truncatingIfNeeded: bits >> (8 * UInt32($0))) }
  }

  private static let raw = "YnZ4LRQAAAA8XoG0DF7GjgSjQGyX1jz73FOuiGJ2eCQ="

  private static let lzvn =
    "YnZ4bvQBAABAAAAA4BBUaGUgcXVpY2sgYnJvd24gZm94IGp1bXBzIG92ZXIgdAAf6mxhenkgZG9nLiA4LfD/8JziIHEG"
    + "AAAAAAAAAGJ2eCQ="

  private static let lzvnlong =
    "YnZ4bhAOAABbAAAAaAEA8P/w//D/8P/w//D/8P/w//D/8P/w//rgEFRoZSBxdWljayBicm93biBmb3gganVtcHMgb3Zl"
    + "ciB0AB/qbGF6eSBkb2cuIDgt8P/w//Hid24GAAAAAAAAAGJ2eCQ="

  private static let fse =
    "YnZ4MnAXAAA0AOABAAQAEN0Q91YiDwBwoQAAADLAgAyPAAAcAgDAIYcAAAAA8Bg8Go8CAADAowAAAAAAAAAAAAAAAAAA"
    + "AAAAAAAAwKsCAADAMQAAAAAAAAAAAMcAAADH/8Dx8Y9wfPwPHB//A8fH/8ArcXz8Ixwf/wPH/8Dx8TEAAAAAAAAAAAAA"
    + "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAgONJhdKbUoXTXHUBEtNKXOwBejapURFBlHE6/wIAAAAAAAAAAADL8X/C/yNi"
    + "dngk"

  private static let floats =
    "YnZ4MnAXAADwAKAGABwAAJJEgnOVNgAQsAAAAD7IsAHrCfgBAAgAACQAfABvAAAAsE8v4AKAC7jg4uLi4uL09PT0H/gG"
    + "LgAAAAAAAAAAAPjPLi6ACy4GF8DgArgYXAwGF+NiAAAAAAAAAMAr8k4AAAAAAAAAAAAAAAAAAAAAgwsGgwFcAYML4IIB"
    + "AAxgAAAXwAUXwAAALrhgAIMBAADABRcADAYXXABwwQAAAOCCAQAAGG1k2x/r5185XoZRtbKKmH818nDuIS7QddQJlVPr"
    + "vcLfdHbP1c36/Kpqp41x/Ge1Xqv5zVEAizwiFJrQW7ldvH2K3iCpjDsrpnd6cy5ewaT6u2gttuvSLIw52YzBXN1ztbLi"
    + "K1ltVp8AAAAAAAAAAAAAQHwEzv9VCPw/4y/KMIlIuIImjEYm3iMJDtGLW7TDGoTjAfkoi2kA4UIz4rAAYnZ4JA=="

  private static let noise =
    "YnZ4MogTAACAASAGAF4DEA7gKtcmwAUwlAAAAD88QADPwKmqqgAICFw8AbdDBQBAVdWY2TH2vNgXBzcXd2dHR9e3p2eH"
    + "N0MFAAAAAACAR+cF+ml+HAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
    + "AAAAAAAAAAAAAAC4Z2dUBjuHNaXVmPdXzXNZfWo2IxrZVO9KeA3InsP7PAdBFyzUt8yvFxS/rM1tfWrODSJmRYKKKLOe"
    + "fSdCW2LPFS4LTL9qsw78PAeRsRXd2BZedwIiaQUsDNr7BUw/OfQCAAAAAAAAAAAAAAAPDKJeukFAgRGDOa9KRTpRe9Ug"
    + "RhQwF/Qfqm94O5k1djhBguURx37CGfF29HgWQcg+N1RX2+6q75pd7F+WM0AieyALhUG53fBhLCn2WLxMkp7QZy65z49A"
    + "/nODAIYahHzMo3od3un9CCJjB5q3bR1cCW8LGLh0j8wO/ejKR41qhb7NmPfTx3ne3FjMu4QdatbhXleJBzapwb4UZBIm"
    + "7pQKaunXchaDEdir5K0PoM/FdrgZE7X2m2696W+XH0aoQ8dxLqU3La1w9rpzpmo86yXKo8Ba56olT1ndcKqJ69DdKIt6"
    + "8xEfdY1QqtM6aeoDCrK/5ApWWMifYiQCv/daISM376kc2L+CMAgUKmecmqLJa6Y7Idra58KPLVgmjmic7XhSHNWn7u2X"
    + "i4T7SkWkqKzRTI3RlVWWb7ygWj0JwMEvAdi2v4pAglWEe/OOrT086jOejO5xAjpqTTWTmN9oYB021rWNqEMrNG+ZUqxx"
    + "eYTIPVgjlug7dOB6nik28bbXq0REjxkHLTF5lcmJZAS2Hja57u/p0fDCS945BIxdxv8l/31FaX5zPxpKNLtONajlbqqY"
    + "8HW3cDSpYyncpujGMNhwqrwbEAC9HMScg1/9avrHi0BJUT/uGMUpb99iwCEDHUi/LcSZPdoCKhXgHgRMpQIGWonMwVV+"
    + "9bMyqys92Zw5oOTFNBnKx43Pl7AsL4FNVA7pJ17DNevm6hNPcMTcVlgFUdMufFLMEhDMyO31AL1VtkTup0NsxXeXyHKx"
    + "SwjPcGtxPnthd3ez7neQnSDilQHPlCxIHiBivKSG5NoDAlsVea9spKMuaun1OMg2aL0+VORB4Cp0UBvNUFEGLkBUZMzy"
    + "8PX6slTaC1QwZ4gJpouAjDBJj/cAAc9osPxEmV2a3vbTRDxz4rjbhxYwcDBJgYhGuAhEMIYM6aNLR3HrboTZFoHjNucO"
    + "iuF526fqkgOm6NkN7q6gCcdDZsycH2w5H0aDRARQVuLB17emg9ZPvOpUH/297qdYks8Xjs5rsiCuC3UM95Qq2t2nZ8pV"
    + "AIX16Z8OvPeG5SJv2cgOhaJK5NvPcM6LTCGJPuh3ViB8r2fZaWZDhF7F4NGAN/z0PnrzoS2JXFDvDW2e+Aa3ik0kyffS"
    + "cp4+AmuZuwzZWlQneYufBrGDH51/FOaL272K3OUgo0Ue4zgBvZRJtsaAFLqgM/6HLjg0OzwRjZ+0W1ybBeptdsZPDe3P"
    + "tD4CrY35eQ12tkQIPgMAvJF3the978Do4ssw1zI/CCTthlJ+3QuD3Di/Hbx91tzt54m/clpnTpCpFV36CA2Ck8x1elkw"
    + "gnuApC65JznrS7FPxrbj4/D/gcB8And/sJt9oaLazt9ftBrrgLHDWLU7AboxoI6SKvlvE28qIguAHaQLOmf07pBHlOEX"
    + "kxWNoRpJcXITWGc94Ku+C4grzUMASV28Qol4pDhsINC+7knPma50aSExvDT/Fe+Mztgj9+M2leB4H7SlpRpRLfhNLUoV"
    + "c95VA4S1ZdNXckslm0GMKzQG011NsA3+lMfDAO6M6p9nj/4jmoGxzg+vK1mfFfgRyXE/nTh8t9zWowrAkZIV5VKIivn0"
    + "i8wTJZYbjF0qbfgqJ7MHbi+aLyNXzduEYK5zyAw73sIbZge2hu2kFpUQ+rjkCMMUfqvnjxAKyTpMx50lmqsepa4d1feg"
    + "TZFzmzTJgbjX8CJMlBGwcFfyx7bz6H1W5gyOvBhm0IomlOQlcOUyu41TiB4aDrHdw3FwwJxkVO/Kuise9qcJb28VNZPz"
    + "t1yKsVn4oeGPcy/uLpyBM/r4y2XzW59kGTmAnPp3YUfTQwKlOgfxfpPIzvOdsbPnzBpQsJvgDtyh78QmvA1KqACat2Oy"
    + "CG+sepK9TWFE2Vrs2GUrfAjnJyDXc93SED5QIma7HPSzN2z9MljXT+ot/BfSzQKuLQf0nJf+CjfAEq4PwA1idngk"

  private static let plain =
    "YnZ4MXAXAAAtAAAANAAAAAQAAAAeAAAADwAAAPr////dAMQBbwGJAAAAAAAyADAAyAAgAAAAAAAAAAAAAAAAABAAAAAA"
    + "AAAAAAAAAAAAAAAAAAAAAAAQAAAAEAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAwAIAAQAAAAAAA"
    + "AAAAAAAAAAAAAAAAAAAAAAAAAABAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
    + "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
    + "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAMIAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
    + "AAAAAAAUAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
    + "AAAAAAAAAAAAAAAAFAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAUACcAFAAUADsAFAAUACcAFAAUACcAFAAUACcAYgAU"
    + "ABQAOwAUABQAJwAUACcAFAAUABQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
    + "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
    + "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
    + "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
    + "AAAAAAAAAAAAAAAAAACA40mF0ptShdNcdQES00pc7AF6NqlREUGUcTr/AgAAAAAAAAAAAMvxf8L/I2J2eCQ="
}

extension LZFSESamples.Sample {
  fileprivate init(_ description: String, _ base64: String, _ content: [UInt8]) {
    self.init(
      description: description, stream: Array(Data(base64Encoded: base64) ?? Data()),
      content: content)
  }
}
