extension CodeReference {
  /// The words that help, documents and pages use without explaining them, in the order in which they build on each
  /// other.
  static let terms = """
    capture
    One recording: a folder, or files with one stem, that one app has written.
    It is only read. Its results lie in OUTPUT/ID, where ID is the name of the folder or the stem.
    `scanmill inspect CAPTURE` tells what is in it.

    family
    The format of one app, such as scannet; a generation is a dated layout in it.
    It is recognized by what the files hold, not by a name.
    `scanmill list families` tells how each is recognized.

    frame
    A moment of a capture, with an index that starts at 0.
    The same index names color, depth, confidence and aligned depth, and the rows of the tables.
    tables/frames.csv has one row for each.

    output
    The folder that --output names: one folder per capture, with one folder per stage in it.
    It accumulates: what a run asks for is added to what is there.
    Name the same folder every time; `scanmill status OUTPUT` tells how it stands.

    stage
    One step of a pipeline, such as color, imu or export-colmap. Its kind, such as decode-color, is
      what it does.
    It makes one folder per capture, which is complete or absent.
    `scanmill list stages` lists the kinds, `scanmill explain CAPTURE` how the stages of a capture
      stand.

    pipeline
    The stages that a run is about, with their parameters: `default`, another one that comes with
      the program, or a file.
    Another pipeline adds its stages to what an output has.
    `scanmill list pipelines` lists those that come with the program.

    parameter
    A value that decides what a stage makes, such as imu.window.
    Another value replaces the results of its stage, and what was made from them.
    `scanmill list parameters STAGE` lists them; --set STAGE.PARAMETER=VALUE sets one.

    export
    A stage that writes the format of another tool, such as colmap.
    Its folder is named export-NAME and has a README.txt.
    `scanmill list exports` lists them; `run --export NAME` makes one.

    asked-for
    The stages and settings of all runs over a capture so far, as far as `clean` has not taken them
      back.
    The states of a capture and of its stages compare with that, and with nothing else.
    `scanmill explain CAPTURE` tells what it is.

    artifact
    The folder that a stage made for a capture, with artifact.json, which lists its files.
    artifact.json is written last: a folder without it is not complete.
    Do not change files in it; `scanmill clean` removes artifacts.

    intermediate
    An artifact that only other stages read, such as decoded depth before it is written as pictures.
    It is removed at the end of the run and counts as up to date.
    There is nothing to do: it is made again when something needs it.

    fingerprint
    A digest of all that decides what a stage makes: content of its inputs, parameters, versions.
    A stage is up to date while it is the recorded one; times of files do not matter.
    `scanmill explain CAPTURE STAGE` shows what is in it, then and now.

    ready
    A capture that is done and needs nobody.
    Everything asked for is there.
    There is nothing to do.

    needs-you
    A person has to look at the capture: it failed, was given up, is incomplete, or much of a stream
      is lost.
    It does not depend on what was asked for last.
    `scanmill status` tells the reason and what to do; `scanmill mark done-as-is CAPTURE` says that
      it is good enough.

    state
    How a capture or a stage stands, whatever was asked for last.
    `status`, pages and metrics tell the same one.
    `scanmill explain STATE` tells what follows from one, such as queued.

    outcome
    What one run did with a capture or a stage; a state is how it stands.
    Lines and JSON of `run` tell outcomes, `status` tells states.
    `scanmill explain` tells what each of them means.

    verdict
    What measure-quality says of a capture as a whole: good, usable, poor, or unjudged.
    It is that of the worst subject; nothing is made or left out because of it.
    `scanmill status OUTPUT --quality poor` tells what led to it; quality.for judges for a purpose.

    mark
    What a person says of a capture: done-as-is, ignore or retire.
    It holds until the content of the files changes, or until its date.
    `scanmill mark list OUTPUT` lists marks, `scanmill mark undo CAPTURE` takes one back.

    done-as-is
    A mark: the capture needs nobody as it is.
    Its results stay.
    `scanmill mark undo CAPTURE` takes it back.

    ignore
    A mark: the capture is not processed by `watch`, and not tried again.
    Its results stay.
    `scanmill mark undo CAPTURE` takes it back.

    retire
    A mark: the results of the capture leave the output.
    They move to OUTPUT/.scanmill/retired; with --yes they are removed.
    `scanmill mark undo CAPTURE` takes it back.

    staging
    The folder that captures are uploaded to, and that `watch` looks at.
    It is only read.
    `scanmill status OUTPUT --staging STAGING` lists what has not been processed yet.

    twin
    A capture with the id of another one, in another folder.
    Its results lie in ID~2, ID~3 and so on.
    `scanmill status` tells where both are; remove one if it is a copy.

    manifest
    The list of the files of a capture with their digests, as the sender has them.
    Only where it was compared with the files, a capture is called verified.
    `scanmill send` writes one; other senders may put one beside the files.

    verified
    The content of the files was compared with the digests of the sender's manifest.
    Only then it is said that a capture may be deleted on the device.
    Send with `scanmill send` to have it verified.
    """

  /// Other spellings of terms.
  static let spellings = [
    "needsPerson": "needs-you", "needs-person": "needs-you", "needs you": "needs-you",
    "asked for": "asked-for", "ignored": "ignore", "retired": "retire", "marked": "mark",
    "upload manifest": "manifest", "good": "verdict", "usable": "verdict", "poor": "verdict",
    "unjudged": "verdict",
  ]
}
