/**
 * Compaction: when a conversation fills the window of its model, older messages are summarised. The records stay. This
 * example has a very small window, so the second message fills it.
 *
 * Try it: `stello dev examples/features/compaction.ts`, `stello start historian --message "…a long text…" --wait`, then
 * `stello send --last "Go on" --wait` and `stello transcript --last`.
 */
import { createStelloAgent, type StelloAgent } from 'stello-temporal'
import { modelOr } from './model-or.ts'

const agent: StelloAgent = createStelloAgent({
  name: 'historian',
  llm: modelOr(
    ['Go on', 'I go on.'],
    [/^Long/, 'I have read it.'],
    [() => true, 'The user has sent a long text; it was read.'],
  ),
  compaction: { window: 3000, at: 0.7, keep: 0.2 },
})

export default agent
