extension CodeReference {
  /// The words that help, documents and pages use without explaining them, in the order in which they build on each
  /// other.
  static let terms: [(word: String, words: CodeWords)] = [
    (
      "capture",
      CodeWords(
        "One recording: a folder, or files with one stem, that one app has written.",
        data:
          "It is only read. Its results lie in OUTPUT/ID, where ID is the name of the folder or the stem.",
        remedy: "`scanmill inspect CAPTURE` tells what is in it.")
    ),
    (
      "family",
      CodeWords(
        "The format of one app, such as scannet; a generation is a dated layout in it.",
        data: "It is recognized by what the files hold, not by a name.",
        remedy: "`scanmill list families` tells how each is recognized.")
    ),
    (
      "frame",
      CodeWords(
        "A moment of a capture, with an index that starts at 0.",
        data:
          "The same index names color, depth, confidence and aligned depth, and the rows of the tables.",
        remedy: "tables/frames.csv has one row for each.")
    ),
    (
      "output",
      CodeWords(
        "The folder that --output names: one folder per capture, with one folder per stage in it.",
        data: "It accumulates: what a run asks for is added to what is there.",
        remedy: "Name the same folder every time; `scanmill status OUTPUT` tells how it stands.")
    ),
    (
      "stage",
      CodeWords(
        "One step of a pipeline, such as color, imu or export-colmap. Its kind, such as decode-color, is what it does.",
        data: "It makes one folder per capture, which is complete or absent.",
        remedy:
          "`scanmill list stages` lists the kinds, `scanmill explain CAPTURE` how the stages of a capture stand."
      )
    ),
    (
      "port",
      CodeWords(
        "The place of a stage for one of its inputs, such as color or frames.",
        data: "What is read there is part of the fingerprint of the stage.",
        remedy:
          "`scanmill list stages KIND` lists the ports of a kind; `needs` and `optional` of a pipeline file connect them."
      )
    ),
    (
      "pipeline",
      CodeWords(
        "The stages that a run is about, with their parameters: `default`, another one that comes with the program, or a file.",
        data: "Another pipeline adds its stages to what an output has.",
        remedy: "`scanmill list pipelines` lists those that come with the program.")
    ),
    (
      "parameter",
      CodeWords(
        "A value that decides what a stage makes, such as imu.window.",
        data: "Another value replaces the results of its stage, and what was made from them.",
        remedy: "`scanmill list parameters STAGE` lists them; --set STAGE.PARAMETER=VALUE sets one."
      )
    ),
    (
      "pick",
      CodeWords(
        "The parameter that says which frames are taken of those that every, first and last leave: even, sharpest or motion.",
        data: "Frames that are not taken are not made; the index of the others stays as it is.",
        remedy:
          "`scanmill list parameters color.pick` lists the values; --set color.pick=sharpest sets one."
      )
    ),
    (
      "even",
      CodeWords(
        "A value of pick: the middle frame of each of count groups of the same length.",
        data: "No picture is looked at for it; without count all frames are taken.",
        remedy: "It is the default; --set color.count=60 says how many groups there are.")
    ),
    (
      "sharpest",
      CodeWords(
        "A value of pick: the sharpest frame of each of count groups of the same length.",
        data: "All pictures are decoded for it, and those that are taken are written.",
        remedy: "Set count too: --set color.pick=sharpest --set color.count=60.")
    ),
    (
      "motion",
      CodeWords(
        "A value of pick: the sharpest frame of each group in which the camera hardly moves.",
        data: "A group ends where the camera has turned by pickAngle or moved by pickDistance.",
        remedy: "`scanmill list parameters color.pickAngle` tells the limits.")
    ),
    (
      "count",
      CodeWords(
        "The parameter that says how many frames are taken at most, spread over the whole recording.",
        data: "As many groups are made, and pick takes one frame of each.",
        remedy: "--set color.count=60 sets it; --set color.count=default takes it back.")
    ),
    (
      "every",
      CodeWords(
        "The parameters every, first and last say by index which frames a stage is about, both ends included.",
        data: "Names of files keep the index: left out frames are gaps in the numbers.",
        remedy: "--set color.every=10 takes each tenth frame.")
    ),
    (
      "export",
      CodeWords(
        "A stage that writes the format of another tool, such as colmap.",
        data: "Its folder is named export-NAME and has a README.txt.",
        remedy: "`scanmill list exports` lists them; `run --export NAME` makes one.")
    ),
    (
      "asked-for",
      CodeWords(
        "The stages and settings of all runs over a capture so far, as far as `clean` has not taken them back.",
        data: "The states of a capture and of its stages compare with that, and with nothing else.",
        remedy: "`scanmill explain CAPTURE` tells what it is.")
    ),
    (
      "artifact",
      CodeWords(
        "The folder that a stage made for a capture, with artifact.json, which lists its files.",
        data: "artifact.json is written last: a folder without it is not complete.",
        remedy: "Do not change files in it; `scanmill clean` removes artifacts.")
    ),
    (
      "intermediate",
      CodeWords(
        "An artifact that only other stages read (`keep: false`), such as decoded depth before it is written as pictures.",
        data: "It is removed at the end of the run and counts as up to date.",
        remedy: "There is nothing to do: it is made again when something needs it.")
    ),
    (
      "fingerprint",
      CodeWords(
        "A digest of all that decides what a stage makes: content of its inputs, parameters, versions.",
        data: "A stage is up to date while it is the recorded one; times of files do not matter.",
        remedy: "`scanmill explain CAPTURE STAGE` shows what is in it, then and now.")
    ),
    (
      "ready",
      CodeWords(
        "A capture that is done and needs nobody.", data: "Everything asked for is there.",
        remedy: "There is nothing to do.")
    ),
    (
      "needs-you",
      CodeWords(
        "A person has to look at the capture: it failed, was given up, is incomplete, has lost a part of a stream, or is not done and nothing is at work on it.",
        data: "It does not depend on what was asked for last.",
        remedy:
          "`scanmill status` tells the reason and what to do; `scanmill mark done-as-is CAPTURE` says that it is good enough."
      )
    ),
    (
      "reasons",
      CodeWords(
        "In documents: why a capture needs a person, each with a code, a text and what to do. The reason of a stage is why it is made.",
        data: "A capture without any needs nobody.",
        remedy: "`scanmill status OUTPUT --needs-person` lists captures that have some.")
    ),
    (
      "remedy",
      CodeWords(
        "What a person can do about a reason, a warning or a failure.",
        data: "It is part of `reasons`, and of what `explain` tells of a code.",
        remedy: "Do what it says; `scanmill mark done-as-is CAPTURE` where that is not worth it.")
    ),
    (
      "state",
      CodeWords(
        "How a capture or a stage stands, whatever was asked for last.",
        data: "`status`, pages and metrics tell the same one.",
        remedy: "`scanmill explain STATE` tells what follows from one, such as queued.")
    ),
    (
      "outcome",
      CodeWords(
        "What one run did with a capture or a stage; a state is how it stands.",
        data: "Lines and JSON of `run` tell outcomes, `status` tells states.",
        remedy: "`scanmill explain` tells what each of them means.")
    ),
    (
      "warning",
      CodeWords(
        "Something about a capture that was found and handled. warningCount is their number: one for a code and a stream.",
        data: "What can be read is kept.",
        remedy: "`scanmill explain CODE` tells what one means, and what to do.")
    ),
    (
      "cause",
      CodeWords(
        "Where a failure comes from: the capture (input), a stage (program), the machine, or a missing permission.",
        data: "It decides whether trying again can help.",
        remedy: "`scanmill explain CAUSE` tells what follows from one, such as machine.")
    ),
    (
      "clock",
      CodeWords(
        "What the times of a capture count from: uptime of the device, unix (1970), recording-start, or the video file; nominal times follow from a rate.",
        data: "`clock.base` of capture.json says which; timestamp_ns counts on it.",
        remedy: "clock=unix of `tum` and `mcap` counts from 1970 where the start is known.")
    ),
    (
      "convention",
      CodeWords(
        "The sign of acceleration: at rest, face up, z is -9.81 m/s² with coremotion and +9.81 m/s² with android.",
        data: "Tables keep the signs that the app recorded; exports convert them.",
        remedy: "--set imu.acceleration=specific-force writes tables with +9.81.")
    ),
    (
      "registered",
      CodeWords(
        "Depth and color are one camera, so that a pixel of depth lies on the pixels of color that it covers.",
        data: "`alignment.registered` of capture.json says it.",
        remedy: "`scanmill inspect CAPTURE` tells the calibration that is used.")
    ),
    (
      "custody",
      CodeWords(
        "In documents: which files of an upload have arrived, and whether their contents were compared with a manifest.",
        data: "It tells whether a capture may be deleted on the device.",
        remedy: "Send with `scanmill send` to have contents compared.")
    ),
    (
      "bytes",
      CodeWords(
        "In documents: what lies in the output; beside it seconds, wall time, and cpuSeconds, time of processors.",
        data: "Intermediates that were removed are not in it.", remedy: "There is nothing to do.")
    ),
    (
      "verdict",
      CodeWords(
        "What measure-quality says of a capture as a whole: good, usable, poor, or unjudged.",
        data: "It is that of the worst subject; nothing is made or left out because of it.",
        remedy:
          "`scanmill status OUTPUT --quality poor` tells what led to it; quality.for judges for a purpose."
      )
    ),
    (
      "mark",
      CodeWords(
        "What a person says of a capture: done-as-is, ignore or retire.",
        data: "It holds until the content of the files changes, or until its date.",
        remedy:
          "`scanmill mark list OUTPUT` lists marks, `scanmill mark undo CAPTURE` takes one back.")
    ),
    (
      "done-as-is",
      CodeWords(
        "A mark: the capture needs nobody as it is.", data: "Its results stay.",
        remedy: "`scanmill mark undo CAPTURE` takes it back.")
    ),
    (
      "ignore",
      CodeWords(
        "A mark: the capture is not processed by `watch`, and not tried again.",
        data: "Its results stay.", remedy: "`scanmill mark undo CAPTURE` takes it back.")
    ),
    (
      "retire",
      CodeWords(
        "A mark: the results of the capture leave the output.",
        data: "They move to OUTPUT/.scanmill/retired; with --yes they are removed.",
        remedy: "`scanmill mark undo CAPTURE` takes it back.")
    ),
    (
      "night",
      CodeWords(
        "The time that one report tells of: since the last local noon, unless it is told otherwise.",
        data: "Each has a page; the pages of the last nights stay.",
        remedy: "`scanmill report OUTPUT --since 24h` tells of another time.")
    ),
    (
      "staging",
      CodeWords(
        "The folder that captures are uploaded to, and that `watch` looks at.",
        data: "It is only read.",
        remedy: "`scanmill status OUTPUT --staging STAGING` lists what has not been processed yet.")
    ),
    (
      "twin",
      CodeWords(
        "A capture with the id of another one, in another folder.",
        data: "Its results lie in ID~2, ID~3 and so on.",
        remedy: "`scanmill status` tells where both are; remove one if it is a copy.")
    ),
    (
      "manifest",
      CodeWords(
        "The list of the files of a capture with their digests, as the sender has them.",
        data: "Only where it was compared with the files, a capture is called verified.",
        remedy: "`scanmill send` writes one; other senders may put one beside the files.")
    ),
    (
      "verified",
      CodeWords(
        "The content of the files was compared with the digests of the sender's manifest.",
        data: "Only then it is said that a capture may be deleted on the device.",
        remedy: "Send with `scanmill send` to have it verified.")
    ),
  ]

  /// Other spellings of terms.
  static let spellings = [
    "needsPerson": "needs-you", "needs-person": "needs-you", "needs you": "needs-you",
    "asked for": "asked-for", "ignored": "ignore", "retired": "retire", "marked": "mark",
    "upload manifest": "manifest", "good": "verdict", "usable": "verdict", "poor": "verdict",
    "unjudged": "verdict", "warnings": "warning", "warningCount": "warning", "seconds": "bytes",
    "cpuSeconds": "bytes", "first": "every", "last": "every", "pickAngle": "motion",
    "pickDistance": "motion", "reason": "reasons", "keep": "intermediate", "severity": "warning",
    "uptime": "clock", "unix": "clock", "nominal": "clock", "recording-start": "clock",
    "coremotion": "convention", "android": "convention",
  ]
}
