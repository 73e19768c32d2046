/** The chat on the screen: what is finished is printed once, the rest is drawn again. Decides nothing. */
import { Static, Text, useCursor } from 'ink'
import type { ReactElement } from 'react'
import type { Live } from './live-lines.ts'

/** Something that is printed once. */
export interface Printed {
  id: number
  text: string
}

/** @param printed grows only */
export function ChatView({ printed, live }: { printed: Printed[]; live: Live }): ReactElement {
  const { setCursorPosition } = useCursor()
  setCursorPosition(live.cursor)
  return (
    <>
      <Static items={printed}>{({ id, text }) => <Text key={id}>{text}</Text>}</Static>
      <Text>{live.lines.map((line) => line || ' ').join('\n')}</Text>
    </>
  )
}
