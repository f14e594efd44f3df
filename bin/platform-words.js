// Platform words: the commands that the platform itself runs, on the data folder of a stopped one.
// Plain JavaScript of 2020 without newer syntax, because an old Node must be able to read it.

/** Without a word the platform starts. All other commands are for a platform that runs. */
export const platformWords = ['verify', 'migrate', 'adopt', 'reset-second-factor'];

/** Whether the platform runs for these words of a command line, not the client. */
export function isPlatformCommand(words) {
  return words.length === 0 || platformWords.includes(words[0]);
}
