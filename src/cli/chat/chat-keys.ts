/** The keys of a chat: one table, which help and the documents show. */

export const CHAT_KEYS: readonly { keys: string; means: string }[] = [
  { keys: 'Enter', means: 'sends the message; chooses a row' },
  { keys: 'Alt-Enter, Ctrl-J, \\ and Enter', means: 'a new line' },
  { keys: '↑ ↓', means: 'moves in the text; at its edge, brings back what was typed before' },
  { keys: 'Tab', means: 'completes a slash command, or the path behind an @; on an empty line, answers what waits' },
  { keys: 'Esc', means: 'puts a question off; gives up a part of an answer' },
  {
    keys: 'Ctrl-A Ctrl-E Ctrl-U Ctrl-K Ctrl-W',
    means: 'begin and end of the line; removes to the begin, to the end, a word',
  },
  { keys: 'Ctrl-G', means: 'the line in the editor that VISUAL or EDITOR names' },
  { keys: 'Ctrl-O', means: 'the last result whole' },
  { keys: 'Ctrl-C', means: 'cancels the turn that runs, and empties the line; twice within two seconds leaves' },
  { keys: 'Ctrl-D', means: 'leaves, on an empty line' },
]
