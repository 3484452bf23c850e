"""complete.py SHELL SCRIPT PROGRAM-FOLDER FOLDER: what SHELL offers behind each line of standard input.

SCRIPT is what `scanmill --generate-completion-script SHELL` printed, PROGRAM-FOLDER goes before PATH, FOLDER is where
the shell works. Prints a JSON object: line, list of what is offered. Bash's function is called as readline calls it;
zsh and fish run at a terminal of ours, and a key of ours has them write what they would show into a file.
"""
import json
import os
import pty
import select
import shutil
import subprocess
import sys
import tempfile
import time

BASH = r"""
source "$1"
while IFS= read -r line; do
  COMP_LINE=$line COMP_POINT=${#line} COMP_WORDS=() COMPREPLY=()
  read -ra COMP_WORDS <<<"$line"
  [[ $line == *" " ]] && COMP_WORDS+=("")
  COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
  _scanmill scanmill "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
  printf '%s\n' "${COMPREPLY[@]}"
  printf '\0'
done
"""

ZSH = r"""
PS1= PROMPT= RPROMPT=
fpath=(SCRIPTS $fpath)
autoload -Uz compinit; compinit -u -D
offered () {
  compadd () {
    if [[ ${@[1,(i)(-|--)]} == *-(O|A|D)\ * ]]; then builtin compadd "$@"; return $?; fi
    local -a hits; builtin compadd -A hits "$@"
    print -rl -- $hits >>ANSWER.part
    builtin compadd "$@"
  }
  : >ANSWER.part
  _main_complete
  unfunction compadd
  mv ANSWER.part ANSWER
}
zle -C offered list-choices offered
bindkey '^E' offered
: >READY
"""

FISH = r"""
function fish_prompt; end
source SCRIPT
function offered
  complete -C (commandline) >ANSWER.part
  mv ANSWER.part ANSWER
end
bind \ce offered
: >READY
"""

PATIENCE_SECONDS = 600


class Terminal:
    """A program at a terminal of ours."""

    def __init__(self, words, environment, folder):
        self.process, self.descriptor = pty.fork()
        if self.process == 0:
            os.chdir(folder)
            os.execvpe(words[0], words, environment)
        self.said = b""

    def drain(self):
        if select.select([self.descriptor], [], [], 0.05)[0]:
            try:
                self.said += os.read(self.descriptor, 65536)
            except OSError:
                time.sleep(0.05)

    def wait(self, path):
        end = time.monotonic() + PATIENCE_SECONDS
        while not os.path.exists(path):
            self.drain()
            if time.monotonic() > end or os.waitpid(self.process, os.WNOHANG)[0]:
                sys.exit(f"no {path}; the terminal says: {self.said.decode(errors='replace')}")

    def type(self, text):
        os.write(self.descriptor, text.encode())


def at_terminal(words, environment, folder, place, lines):
    terminal = Terminal(words, environment, folder)
    terminal.wait(f"{place}/ready")
    answers = {}
    for line in lines:
        terminal.type(line + "\x05")
        terminal.wait(f"{place}/answer")
        with open(f"{place}/answer") as file:
            # fish puts a description behind a tab.
            answers[line] = sorted({entry.split("\t")[0] for entry in file.read().split("\n") if entry})
        os.remove(f"{place}/answer")
        terminal.type("\x15")
    os.close(terminal.descriptor)
    return answers


def main():
    shell, script, programs, folder = sys.argv[1:]
    lines = sys.stdin.read().split("\n")
    lines = [line for line in lines if line]
    environment = dict(os.environ, PATH=programs + ":" + os.environ["PATH"], TERM="dumb", LC_ALL="C.UTF-8")
    with tempfile.TemporaryDirectory() as place:
        environment["HOME"] = place

        def filled(text):
            return (text.replace("SCRIPTS", f"{place}/scripts").replace("SCRIPT", script)
                    .replace("ANSWER", f"{place}/answer").replace("READY", f"{place}/ready"))

        if shell == "bash":
            done = subprocess.run(
                ["bash", "--norc", "-c", BASH, "bash", script], cwd=folder, env=environment, check=True,
                input="".join(line + "\n" for line in lines), capture_output=True, text=True)
            pieces = done.stdout.split("\0")
            answers = {line: [word for word in piece.split("\n") if word] for line, piece in zip(lines, pieces)}
        elif shell == "zsh":
            os.mkdir(f"{place}/scripts")
            shutil.copy(script, f"{place}/scripts/_scanmill")
            with open(f"{place}/.zshrc", "w") as file:
                file.write(filled(ZSH))
            environment["ZDOTDIR"] = place
            answers = at_terminal(["zsh", "-d", "-i"], environment, folder, place, lines)
        else:
            with open(f"{place}/setup.fish", "w") as file:
                file.write(filled(FISH))
            answers = at_terminal(
                ["fish", "--no-config", "-i", "-C", f"source {place}/setup.fish"], environment, folder, place, lines)
    json.dump(answers, sys.stdout, indent=1)


main()
