import Media
import Core
import SystemPackage
import Glibc

/// Decodes one file again and again, or encodes its picture, and prints the bytes of what was made and the fastest and
/// the median time:
///
///     CodecBenchmark lzfse FILE BYTES ITERATIONS      a stream of BYTES when decoded
///     CodecBenchmark exr FILE 0 ITERATIONS            one picture
///     CodecBenchmark zip FILE 0 ITERATIONS            every entry of an archive, opened anew each time
///     CodecBenchmark png-fast FILE 0 ITERATIONS       encodes the picture of a PNG file, 8-bit RGB or 16-bit gray;
///                                                     likewise with every other compression
///
/// `codecs.py` makes the files and compares the times with those of other decoders, `encoders.py` with other encoders.
struct CodecFailure: Error {
  var what: String
}

/// More than any file that is measured has.
let most = InputLimit("bytes of a file", most: 1 << 30, "it is held in memory")

func decoder(_ kind: String, _ path: FilePath, _ count: Int) throws -> () throws -> Int {
  switch kind {
  case "lzfse":
    let stream = try InputFile(path).whole(limit: most)
    var output = [UInt8](repeating: 0, count: count)
    return {
      var elements = output.mutableSpan
      var target = elements.mutableBytes
      try LZFSE.decode(stream.span.bytes, into: &target)
      return count
    }
  case "exr":
    let bytes = try InputFile(path).whole(limit: most)
    return {
      let picture = try EXRReader.picture(in: bytes)
      return picture.values.count * (picture.isHalf ? 2 : 4)
    }
  case "zip":
    return {
      let archive = try ZIPArchive(MappedFile(path))
      return try archive.entries.reduce(0) { sum, entry in
        sum + (try archive.content(of: entry, most: 1 << 30)).count
      }
    }
  case _ where kind.hasPrefix("png-"):
    guard let compression = PNGCompression(rawValue: String(kind.dropFirst(4))) else { break }
    return try encoder(PNGWriter(compression: compression), path)
  default: break
  }
  throw CodecFailure(what: "no codec '\(kind)'")
}

func encoder(_ writer: PNGWriter, _ path: FilePath) throws -> () throws -> Int {
  var writer = writer
  var file: [UInt8] = []
  // A reader of color also accepts gray.
  if let depth = try? PNGReader.depth(at: path) {
    return {
      try writer.encode(
        gray16: depth.millimeters, width: depth.width, height: depth.height, into: &file)
      return file.count
    }
  }
  let color = try PNGReader.color(at: path)
  return {
    try writer.encode(rgb: color.rgb, width: color.width, height: color.height, into: &file)
    return file.count
  }
}

func seconds() -> Double {
  var time = timespec()
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
  return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}

let words = CommandLine.arguments
guard words.count == 5, let count = Int(words[3]), let iterations = Int(words[4]), iterations > 0
else {
  print("usage: CodecBenchmark lzfse|exr|zip|png-COMPRESSION FILE BYTES ITERATIONS")
  exit(64)
}
let call = try decoder(words[1], FilePath(words[2]), count)
var content = try call()
var times: [Double] = []
for _ in 0..<iterations {
  let start = seconds()
  content = try call()
  times.append(seconds() - start)
}
times.sort()
print(content, times[0], times[times.count / 2])
