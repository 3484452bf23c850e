import Core
import SystemPackage
import Glibc

/// Programs for comparison, by their names in `--compare`.
public enum Peer: String, CaseIterable, Sendable {
  /// Both command lines of ffmpeg.
  case ffmpeg
  /// Only the faster one of the two.
  case tunedFFmpeg = "ffmpeg-tuned"
  case openCV = "opencv"
  /// What people write by hand for color, depth, aligned depth and inertial rows: ffmpeg and Python.
  case scripts
}

/// The peers of this machine, and what to say of the others.
struct FoundPeers {
  /// An available peer.
  struct Found: Hashable {
    var peer: Peer
    var version: String
    var commands: [PeerCommand]
  }

  /// A missing peer, with what to do about it.
  struct Missing: Error, Hashable {
    var peer: Peer
    var description: String
  }

  let found: [Found]
  let missing: [Missing]

  /// By the names of `--compare`.
  var versions: [String: String] {
    Dictionary(firstOf: found.map { ($0.peer.rawValue, $0.version) })
  }

  /// Each command line once: `ffmpeg` stands for both of its.
  var commands: [PeerCommand] {
    found.flatMap(\.commands).reduce(into: []) { all, command in
      if !all.contains(command) { all.append(command) }
    }
  }

  /// Sentences about peers that are not compared, and why.
  var sentences: [String] {
    missing.map { "\($0.peer.rawValue) is not compared: \($0.description)" }
  }

  /// A capture's export against them.
  func comparison(
    of subject: BenchmarkSubject, _ session: BenchmarkSession
  ) throws -> PeerComparison {
    var comparison: PeerComparison
    if found.isEmpty {
      comparison = PeerComparison(note: "nothing is compared: no peer that was named is here")
    } else if let video = subject.video {
      let scriptsApply = PeerCommand.scriptFamilies.contains(subject.family)
      let applicable = commands.filter { $0.work == .color || scriptsApply }
      comparison =
        applicable.isEmpty
        ? PeerComparison(note: "not compared")
        : try session.compare(subject, video: video, peers: applicable)
      if applicable.count < commands.count {
        comparison.note +=
          "; scripts read only \(PeerCommand.scriptFamilies.joined(separator: ", "))"
      }
    } else {
      comparison = PeerComparison(
        note: "not compared: the capture's color is not a readable video")
    }
    if !missing.isEmpty { comparison.missing = sentences }
    return comparison
  }
}

extension FoundPeers {
  /// Looks for each. Cost: some starts of programs.
  init(_ peers: [Peer], _ runner: ProgramRunner) {
    var found: [Found] = []
    var missing: [Missing] = []
    for peer in peers {
      do throws(Missing) {
        found.append(try Self.find(peer, runner))
      } catch {
        missing.append(error)
      }
    }
    self.init(found: found, missing: missing)
  }

  /// - Throws: `Missing`.
  ///
  /// Cost: starts the program; for modules of Python every `python3` in PATH until one has them.
  private static func find(_ peer: Peer, _ runner: ProgramRunner) throws(Missing) -> Found {
    switch peer {
    case .ffmpeg, .tunedFFmpeg:
      guard let program = programs("ffmpeg").first else {
        throw Missing(
          peer: peer,
          description: "there is no ffmpeg in PATH: install it (on Debian: apt install ffmpeg)")
      }
      let tuned = PeerCommand.tunedFFmpeg(program)
      return Found(
        peer: peer, version: version(ofFFmpeg: words(program, ["-version"], runner) ?? ""),
        commands: peer == .ffmpeg ? [.ffmpeg(program), tuned] : [tuned])
    case .openCV:
      let (python, version) = try python(
        with: ["cv2"], "OpenCV: pip install opencv-python-headless", for: peer, runner)
      return Found(peer: peer, version: version, commands: [.openCV(python)])
    case .scripts:
      let ffmpeg = try find(.ffmpeg, runner)
      let (python, version) = try python(
        with: ["cv2", "lz4.block"],
        "OpenCV and LZ4: pip install opencv-python-headless lz4", for: peer, runner)
      return Found(
        peer: peer, version: "ffmpeg \(ffmpeg.version), opencv \(version)",
        commands: PeerCommand.scripts(python))
    }
  }

  /// The first `python3` in PATH that has these modules, and the version of the first of them.
  private static func python(
    with modules: [String], _ remedy: String, for peer: Peer, _ runner: ProgramRunner
  ) throws(Missing) -> (program: String, version: String) {
    let code = "import \(modules.joined(separator: ", ")); print(\(modules[0]).__version__)"
    for program in programs("python3") {
      if let version = words(program, ["-c", code], runner) { return (program, version) }
    }
    throw Missing(
      peer: peer,
      description:
        "no python3 in PATH has \(remedy), or put the folder of a python3 that has it first in PATH"
    )
  }

  /// Every program of this name in PATH, in order.
  private static func programs(_ name: String) -> [String] {
    let search = getenv("PATH").map { String(cString: $0) } ?? "/usr/local/bin:/usr/bin:/bin"
    return search.split(separator: ":").compactMap { folder in
      let path = FilePath(String(folder)).appending(name)
      let isProgram = path.withPlatformString { access($0, X_OK) } == 0
      return isProgram && !FileSystem.isFolder(path) ? path.string : nil
    }
  }

  /// The first line that it prints; `nil` when it fails or prints nothing.
  private static func words(
    _ program: String, _ arguments: [String], _ runner: ProgramRunner
  ) -> String? {
    guard let outcome = try? runner.run(program, arguments), outcome.end.isSuccess else {
      return nil
    }
    return String(decoding: outcome.output.prefix(4096), as: UTF8.self)
      .split(whereSeparator: \.isNewline).first.map(String.init)
  }

  /// The third word of `ffmpeg version 5.1.7-0+deb12u1 Copyright …`.
  static func version(ofFFmpeg line: String) -> String {
    let words = line.split(separator: " ")
    return words.count > 2 && words[1] == "version" ? String(words[2]) : "unknown"
  }
}

/// Work that this program and a peer both do.
enum PeerWork: CaseIterable {
  case color
  /// Color, depth, aligned depth and inertial rows.
  case wholeWithPNG
  case wholeWithJPEG

  /// This program's runs, by their names in tables.
  var runs: [(name: String, options: [String])] {
    switch self {
    case .color:
      ["fast", "compact"].map {
        ("scanmill, \($0)", ["--only", "color", "--set", "color.compression=\($0)"])
      }
    case .wholeWithPNG: [("scanmill, whole, PNG", whole)]
    case .wholeWithJPEG: [("scanmill, whole, JPEG", whole + ["--set", "color.format=jpeg"])]
    }
  }

  private var whole: [String] { ["--only", stages.joined(separator: ",")] }

  /// Stages whose results are compared.
  var stages: [String] { self == .color ? ["color"] : ["color", "depth", "aligned", "imu"] }
}

/// A command line of another program.
struct PeerCommand: Hashable {
  /// The name in tables.
  var name: String
  /// The executable file.
  var program: String
  let work: PeerWork
  private var kind: Kind

  private enum Kind: Hashable {
    case ffmpeg(encoding: [String])
    case openCV
    case script(ending: String, encoding: [String])
  }

  /// The usual command line.
  static func ffmpeg(_ program: String) -> PeerCommand {
    PeerCommand(
      name: "ffmpeg, default", program: program, work: .color, kind: .ffmpeg(encoding: []))
  }

  /// The settings of its PNG encoder that are fastest without giving larger files.
  private static let tuned = ["-compression_level", "1", "-pred", "up"]

  static func tunedFFmpeg(_ program: String) -> PeerCommand {
    PeerCommand(
      name: "ffmpeg, level 1, up", program: program, work: .color, kind: .ffmpeg(encoding: tuned))
  }

  /// - Parameter python: a Python with OpenCV.
  static func openCV(_ python: String) -> PeerCommand {
    PeerCommand(name: "opencv", program: python, work: .color, kind: .openCV)
  }

  /// - Parameter python: a Python with what `wholeJobScript` imports.
  static func scripts(_ python: String) -> [PeerCommand] {
    func command(
      _ name: String, _ work: PeerWork, _ ending: String, _ encoding: [String]
    ) -> PeerCommand {
      PeerCommand(
        name: "scripts, \(name)", program: python, work: work,
        kind: .script(ending: ending, encoding: encoding))
    }
    return [
      command("PNG", .wholeWithPNG, "png", []),
      command("PNG level 1, up", .wholeWithPNG, "png", tuned),
      command("JPEG", .wholeWithJPEG, "jpg", ["-q:v", "2"]),
    ]
  }

  /// Arguments that write every picture of `video` to `folder/000000.png` and so on, with the
  /// program's default number of threads; for the whole work to `folder/color` and so on.
  ///
  /// - Parameter ignoresEditList: whether pictures that an edit list hides are written, too, as this
  ///   program does for families whose app hides pictures of the recording.
  func arguments(
    video: String, folder: String, ignoresEditList: Bool = false
  ) -> [String] {
    let reading = (ignoresEditList ? ["-ignore_editlist", "1"] : []) + ["-i", video]
    let everyPicture = ["-fps_mode", "passthrough"]
    switch kind {
    case .ffmpeg(let encoding):
      return ["-nostdin", "-v", "error"] + reading + everyPicture + encoding
        + ["-start_number", "0", folder + "/%06d.png"]
    case .openCV:
      return ["-c", Self.openCVScript, video, folder]
        + (ignoresEditList ? ["ignore_editlist;1"] : [])
    case .script(let ending, let encoding):
      return ["-c", Self.wholeJobScript, video, folder, ending] + reading + everyPicture + encoding
    }
  }
}

extension PeerCommand {
  /// A typical script that exports a video with OpenCV in Python: every picture, with OpenCV's
  /// settings. For `python3 -c`; arguments: the video, the folder for `000000.png` and so on, and options for
  /// opening the video, if there are any. Exits with
  /// 1 when the video cannot be opened or a picture cannot be written.
  static let openCVScript = """
    import os
    import sys
    if len(sys.argv) > 3:
        os.environ["OPENCV_FFMPEG_CAPTURE_OPTIONS"] = sys.argv[3]
    import cv2
    video, folder = sys.argv[1:3]
    capture = cv2.VideoCapture(video)
    if not capture.isOpened():
        sys.exit("cv2.VideoCapture cannot open " + video)
    number = 0
    while True:
        good, picture = capture.read()
        if not good:
            break
        if not cv2.imwrite("%s/%06d.png" % (folder, number), picture):
            sys.exit("cv2.imwrite cannot write to " + folder)
        number += 1
    """

  /// Families whose files `wholeJobScript` reads.
  static let scriptFamilies = ["arkit-scanner", "multiscan", "stray-scanner"]

  /// A script of the kind that people write for the whole work: color by ffmpeg, depth and its nearest
  /// neighbors on the grid of color by OpenCV, inertial samples around every frame by Python's tables.
  /// For `python3 -c`; arguments: the video in the folder of the capture, the folder of the output,
  /// the ending of color pictures, and ffmpeg's arguments up to the encoding. Exits with 1 where it
  /// cannot read a file.
  static let wholeJobScript = """
    import bisect, csv, json, os, shutil, struct, subprocess, sys, zlib
    from decimal import Decimal, ROUND_HALF_UP
    import cv2
    import lz4.block
    import numpy as np

    video, output, ending = sys.argv[1:4]
    capture, stem = os.path.dirname(video), os.path.splitext(video)[0]
    path = lambda *names: os.path.join(capture, *names)
    for name in ("color", "depth", "aligned", "imu"):
        os.mkdir(os.path.join(output, name))

    subprocess.run(["ffmpeg", "-nostdin", "-v", "error", *sys.argv[4:],
                    "-start_number", "0", os.path.join(output, "color", "%06d." + ending)], check=True)
    height, width = cv2.imread(os.path.join(output, "color", "000000." + ending)).shape[:2]

    def millimeters(meters):
        values = np.nan_to_num(meters.astype(np.float64) * 1000, nan=0, posinf=0, neginf=0)
        values = np.floor(values + 0.5)
        values[(values < 0) | (values > 65535)] = 0
        return values.astype(np.uint16)

    def records():
        with open(path("depth.bin"), "rb") as file:
            while head := file.read(4):
                record = file.read(struct.unpack("<i", head)[0])
                try:
                    data = lz4.block.decompress(record, uncompressed_size=256 * 192 * 2)
                    yield np.frombuffer(data, "<u2").reshape(192, 256)
                except lz4.block.LZ4BlockError:
                    data = zlib.decompress(record, -15)
                    yield millimeters(np.frombuffer(data, "<f4").reshape(192, 256))

    def stream():
        with open(stem + ".json") as file:
            about = json.load(file)
        size = next(s["resolution"] for s in about["streams"] if "depth" in s["type"] or "lidar" in s["type"])
        rows, columns = size or (192, 256)
        inflater, held = zlib.decompressobj(-15), b""
        with open(stem + ".depth.zlib", "rb") as file:
            while piece := file.read(1 << 16):
                held += inflater.decompress(piece)
                while len(held) >= 2 * rows * columns:
                    picture, held = held[:2 * rows * columns], held[2 * rows * columns:]
                    yield millimeters(np.frombuffer(picture, "<f2").reshape(rows, columns))

    def pictures():
        for name in sorted(os.listdir(path("depth"))):
            yield cv2.imread(path("depth", name), cv2.IMREAD_UNCHANGED)

    if os.path.exists(path("depth.bin")):
        frames = records()
    elif os.path.exists(stem + ".depth.zlib"):
        frames = stream()
    else:
        frames = pictures()
    for number, picture in enumerate(frames):
        name = "%06d.png" % number
        cv2.imwrite(os.path.join(output, "depth", name), picture)
        aligned = cv2.resize(picture, (width, height), interpolation=cv2.INTER_NEAREST)
        cv2.imwrite(os.path.join(output, "aligned", name), aligned)

    def nanoseconds(seconds):
        return int((Decimal(seconds) * 10**9).to_integral_value(ROUND_HALF_UP))

    times, samples, G = [], [], 9.80665
    if os.path.exists(path("imu.json")):
        with open(path("trans.json")) as file:
            times = sorted(nanoseconds(key) for key in json.load(file))
        with open(path("imu.json")) as file:
            for key, value in json.load(file).items():
                v, t = json.loads(value), nanoseconds(key)
                samples += [(t, "rotationRate", *v[0:3]), (t, "userAcceleration", *(G * a for a in v[3:6])),
                            (t, "magnetometer", *v[6:9]), (t, "attitude", *v[9:12]),
                            (t, "gravity", *(G * a for a in v[12:15]))]
    elif os.path.exists(path("imu.csv")):
        with open(path("odometry.csv")) as file:
            times = [nanoseconds(row["timestamp"]) for row in csv.DictReader(file, skipinitialspace=True)]
        with open(path("imu.csv")) as file:
            for row in csv.DictReader(file, skipinitialspace=True):
                t, *v = row.values()
                samples += [(nanoseconds(t), "accelerometer", *v[0:3]), (nanoseconds(t), "rotationRate", *v[3:6])]
    samples.sort(key=lambda sample: sample[0])
    order = [sample[0] for sample in samples]
    with open(os.path.join(output, "imu", "frame_imu.csv"), "w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["frame", "frame_timestamp_ns", "timestamp_ns", "offset_ns", "sensor_type", "x", "y", "z"])
        for frame, time in enumerate(times):
            first = bisect.bisect_left(order, time - 50_000_000)
            for sample in samples[first:bisect.bisect_right(order, time + 50_000_000)]:
                table.writerow([frame, time, sample[0], sample[0] - time, *sample[1:]])
    """
}
