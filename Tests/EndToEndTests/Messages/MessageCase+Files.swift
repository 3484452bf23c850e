import SystemPackage
import TestSupport

extension MessageCase {
  /// What was named is not what it should be.
  static let places: [MessageCase] = [
    MessageCase(
      "run nowhere -o out", shows: "error: nowhere: no such file or folder…", 65, "check the path"),
    MessageCase(
      "run empty -o out", shows: "error: …empty: the folder is empty…", 65,
      "name the folder that holds captures"),
    MessageCase(
      "run links -o out", shows: "error: …links: no capture, only links that lead out of it…", 65,
      "name what they lead to"),
    MessageCase(
      "run photos -o out", shows: "error: …photos: no capture of a known family here…", 65,
      "`scanmill list families`"),
    MessageCase(
      "run file.txt -o out", shows: "error: …file.txt: belongs to no capture of a known family…",
      65, "name the folder of a capture"),
    MessageCase(
      "run capture.zip -o out", shows: "error: …capture.zip: an archive…", 65, "unpack it"),
    MessageCase(
      "error: …cloud: no capture of a known family, and 1 of its files…", 65, "download them"
    ) {
      try $0.write("bplist00", "cloud/.rgb.mp4.icloud")
      return try $0.program("run cloud -o out")
    },
    MessageCase(
      "run in/a nowhere -o out --until imu", shows: "failed: nowhere: no such file or folder…", 1,
      "check the path"),
    MessageCase(
      "run in/a -o in/a", shows: "error: --output …in/a is the folder of a capture…", 64,
      "choose another folder"),
    MessageCase(
      "run in/a -o in", shows: "error: the capture …in/a lies where results would go…", 64,
      "choose another --output"),
    MessageCase(
      "watch in -o in/out --once", shows: "error: --output …in/out lies in the staging folder…", 64,
      "choose another folder"),
    MessageCase(
      "run in/a -o file.txt", shows: "error: file.txt: the folder cannot be created…", 73,
      "choose another name"),
    MessageCase(
      "run in/a -o /proc/out",
      shows:
        "error: /proc/out: the folder cannot be created: nothing can be created at this place…",
      73, "choose another folder"),
    MessageCase(
      "program: foreign/a: cannot be written: holds notes.txt and no record of this program…", 73,
      "move it away"
    ) {
      try $0.write("mine\n", "foreign/a/notes.txt")
      return try $0.program("run in/a -o foreign --until imu")
    },
    MessageCase(
      "status nowhere", shows: "error: nowhere: no such folder…", 65,
      "name the folder that --output named"),
    MessageCase(
      "report in", shows: "error: in: no results of any capture here…", 65,
      "name the folder that --output named"),
    MessageCase(
      "mark list in", shows: "error: in: no results of any capture here…", 65,
      "name the folder that --output named"),
    MessageCase(
      "watch nowhere -o out --once",
      shows: "error: nowhere: no such folder; name the folder where…",
      65, "where uploads arrive"),
    MessageCase(
      "explain nobody imu -o done",
      shows: "error: 'nobody' is not a capture, and done holds no results…",
      65, "with this id"),
    MessageCase(
      "bench in/a --baseline nowhere.json",
      shows: "error: nowhere.json: cannot be opened: no such file; give what…", 64,
      "`scanmill bench --json` printed"),
    MessageCase(
      "error: nothing of the baseline can be compared: it has …", 64, "with the same -j"
    ) {
      try $0.write(
        """
        {"schema": 1, "version": "1", "captures": [], "machine": {"processor": "p", "cores": 2,
         "memoryBytes": 1, "system": "s"}, "settings": {"pipeline": "benchmark", "repeats": 3,
         "warmups": 1, "isCold": false}}
        """, "other.json")
      return try $0.program("bench in/a --baseline other.json")
    },
    MessageCase(
      "run in/a -o out --executor slurm --profile nowhere.yaml",
      shows: "error: nowhere.yaml: cannot be opened: no such file", 78, "nowhere.yaml"),
    MessageCase(
      "error: profile.yaml:2:9: unknown key 'partion', did you mean 'partition'?", 78, "partition"
    ) {
      try $0.write("schema: 1\nslurm: {partion: gpu}\n", "profile.yaml")
      return try $0.run("--profile profile.yaml")
    },
  ]

  /// Wrong pipeline files: 78.
  static let pipelines: [MessageCase] = [
    MessageCase(
      pipeline: "schema: 1\nstages:\n\tcolor: {uses: decode-color}\n",
      shows: "error: p.yaml:3:1: a tab: YAML is indented with spaces…", "with spaces"),
    MessageCase(
      pipeline: "schema: 1\nstages:\n  color: {use: decode-color}\n",
      shows: "p.yaml:3:11: unknown key 'use', did you mean 'uses'?", "'uses'"),
    MessageCase(
      pipeline: "schema: 1\nstages:\n  color: {uses: decode-colour}\n",
      shows:
        "error: p.yaml:3:17: unknown kind of stage 'decode-colour', did you mean 'decode-color'?",
      "decode-color"),
    MessageCase(
      pipeline: "schema: 1\nstages:\n  aligned: {uses: aligned}\n",
      shows: "error: p.yaml:3:19: unknown kind of stage 'aligned': it is a stage…",
      "`scanmill list stages` lists the kinds"),
    MessageCase(
      pipeline:
        "schema: 1\nstages:\n  frames: {uses: decompress-depth}\n  aligned: {uses: align-depth, needs: [decompress-depth]}\n",
      shows: "error: p.yaml:4:40: unknown stage 'decompress-depth': decompress-depth is a kind…",
      "the stage is called frames"),
    MessageCase(
      pipeline:
        "schema: 1\nstages:\n  a: {uses: command, with: {command: [ls], requires: [pose]}}\n",
      shows: "error: p.yaml:…a capture has no 'pose', did you mean 'poses'?", "'poses'"),
  ]

  private static let color =
    #""colorIntrinsics":{"width":1296,"height":968,"fx":1170,"fy":1170,"cx":647.75,"cy":483.75}"#
  private static let depth =
    #""depthIntrinsics":{"width":640,"height":480,"fx":571,"fy":571,"cx":319.5,"cy":239.5}"#

  /// Calibration files: 64 on the command line.
  static let calibrations: [MessageCase] = [
    MessageCase(
      "run in/a -o out --set aligned.calibration=nowhere.json",
      shows: "error: aligned.calibration: nowhere.json: cannot be opened: no such file", 64,
      "nowhere.json"),
    MessageCase(
      "run in/a -o out --set aligned.calibrationFolder=file.txt",
      shows: "error: aligned.calibrationFolder: file.txt: is a file; name a folder", 64,
      "name a folder"),
    MessageCase(
      calibration: "hello\n",
      shows:
        "error: aligned.calibration: lab.json: is neither JSON, `key = value` text nor a file of Kalibr…",
      "docs/calibration.md"),
    MessageCase(
      calibration: "{\"registered\":",
      shows: "error: aligned.calibration: lab.json: is not valid JSON…",
      "check its brackets, quotes and commas"),
    MessageCase(
      calibration: "{\(color),\(depth)}",
      shows: "error: aligned.calibration: lab.json: colorFromDepth: is missing…",
      "add the 4×4 matrix, row by row"),
    MessageCase(
      calibration: "{\(color),\(depth),\"colorFromDepth\":[2,0,0,0,0,1,0,0,0,0,1,0,0,0,0,1]}",
      shows: "error: aligned.calibration: lab.json: colorFromDepth = …: must be a rotation…",
      "RᵀR = I within 0.001"),
    MessageCase(
      calibration: "{\(color),\(depth),\"colorFromDepth\":[1,0,0,0,0,1,0,0,0,0,1,0,0.03,0,0,1]}",
      shows:
        "error: aligned.calibration: lab.json: colorFromDepth = …: must have the last row 0 0 0 1…",
      "write the matrix row by row"),
    MessageCase("error: lab.json: colorIntrinsics: is missing…", 1, "of the color camera") {
      try $0.write("{}", "lab.json")
      return try $0.program("inspect in/a --calibration lab.json")
    },
    MessageCase(
      "input: lab.json: does not apply to this capture: it is of one camera…", 1,
      "leave it out, or give one with depthIntrinsics and colorFromDepth"
    ) {
      try $0.write("{\"registered\":true,\(color)}", "lab.json")
      return try $0.run("--set aligned.calibration=lab.json")
    },
    MessageCase(
      "error: color.alpha: has no effect without undistort=true", 64, "without undistort=true"
    ) {
      try $0.run("--set color.alpha=0.5")
    },
    MessageCase(
      "error: color.pickAngle: has no effect without pick=motion", 64, "pick=motion"
    ) {
      try $0.run("--set color.pickAngle=5")
    },
    MessageCase(
      "error: color.hdr: libzimg.so.2 cannot be loaded: …; install libzimg2", 64,
      "install libzimg2"
    ) {
      // A file of this name that is no library is found first.
      try $0.write("no library", "lib/libzimg.so.2")
      return try $0.start(
        "run in/a -o out --set color.hdr=sdr",
        ["LD_LIBRARY_PATH": $0.path.appending("lib").string]
      ).finish()
    },
    MessageCase(
      "error: --to hdf5: libhdf5_serial.so.103 cannot be loaded: …; install libhdf5-103-1", 64,
      "install libhdf5-103-1"
    ) {
      try $0.write("no library", "lib/libhdf5_serial.so.103")
      return try $0.start(
        "pack out --to hdf5 --into set", ["LD_LIBRARY_PATH": $0.path.appending("lib").string]
      ).finish()
    },
    MessageCase(
      "error: color.hdr: linear16 needs format=png: a JPEG picture holds 8 bits…", 64,
      "sdr goes with JPEG"
    ) {
      try $0.run("--set color.hdr=linear16 --set color.format=jpeg")
    },
    MessageCase(
      "input: color.hdr=linear16 needs a color video: stills have 8 bits…", 1,
      "leave color.hdr out"
    ) {
      _ = try $0.program(
        "synthesize record3d --output stills --frames 2 --width 160 --height 120 --id a")
      return try $0.program("run stills -o out --only color --set color.hdr=linear16")
    },
    MessageCase(
      "error: export-ply.calibration: color is undistorted with another calibration…", 64,
      "give the same as color.calibration"
    ) {
      try $0.write("{\(color)}", "lab.json")
      return try $0.run(
        "--export ply --set color.undistort=true --set export-ply.calibration=lab.json")
    },
    MessageCase(
      "input: undistort: the capture states no lens coefficients of its color camera…", 1,
      "give a calibration, or leave undistort out"
    ) {
      try $0.run("--set color.undistort=true")
    },
    MessageCase(
      "error: depth.undistortion: cut.lut: has 3 bytes, and the head of a table alone has 16…", 64,
      "copy the file anew"
    ) {
      try $0.write("abc", "cut.lut")
      return try $0.run("--set depth.undistortion=cut.lut")
    },
    MessageCase(
      "input: lab.json: deviceId = B2: does not apply to this capture: it is of another…",
      1, "give that of the capture's own device"
    ) {
      try $0.write(
        "{\"deviceId\":\"B2\",\(color),\(depth),\"colorFromDepth\":[1,0,0,0.03,0,1,0,0,0,0,1,0,0,0,0,1]}",
        "lab.json")
      return try $0.run("--set aligned.calibration=lab.json")
    },
  ]
}
