/** What waits for a person, answered in a chat on a real terminal. */
import { beforeAll, describe, it } from 'vitest'
import { useChats } from './chat-rig.ts'
import type { Running } from './command.ts'

const rig = useChats()
let worker: Running

beforeAll(async () => {
  worker = await rig.work()
})

describe('questions of a tool', () => {
  it('are answered by an option, and by several', async () => {
    const chat = await rig.chat([rig.agent], { columns: 80, rows: 24 })
    chat.press('ask me\r')
    await chat.shows(/\? Which colour\?\n +Colour\n❯ 1\. red – it is red\n +2\. blue – it is blue\n/)
    await chat.choose('2')
    await chat.shows('? Which days?')
    await chat.choose('1')
    await chat.shows('☑ Monday')
    await chat.choose('2')
    await chat.shows('☑ Friday')
    await chat.choose('3')
    await chat.shows(/"Which colour\?" = "blue"\n +"Which days\?" = "Monday, Friday"/)
  })

  it('are answered in own words, or declined', async () => {
    const chat = await rig.chat([rig.agent], { columns: 80, rows: 24 })
    chat.press('ask me\r')
    await chat.shows('Which colour?')
    await chat.choose('3')
    await chat.shows('answer ❯')
    chat.press('the one of the sea\r')
    await chat.shows('? Which days?')
    await chat.choose('5')
    await chat.shows('"Which colour?" = "the one of the sea"')
    await chat.shows('(no answer')
  })
})

it('a call may run with arguments that were edited in the own editor', async () => {
  const chat = await rig.chat([rig.agent], { env: { EDITOR: 'sed -i s/a.txt/b.txt/' } })
  chat.press('remove it\r')
  await chat.shows('❯ 1. approve')
  await chat.choose('5')
  await chat.shows('"path": "b.txt"')
  chat.press('\r')
  await chat.shows('Read: removed b.txt')
})

it('an outcome that nobody knows is told by the person', async () => {
  const chat = await rig.chat([rig.agent], { columns: 80, rows: 24 })
  chat.press('pay them\r')
  await chat.shows('● pay')
  worker.kill('SIGKILL')
  await worker.ended
  worker = await rig.work()
  await chat.shows(/❯ 1\. done[^]*2\. done, and say what came of it[^]*3\. not done[^]*4\. retry/)
  await chat.choose('2')
  await chat.shows('result ❯')
  chat.press('receipt 7\r')
  await chat.shows('Read: receipt 7')
  await chat.hides('1. done')
})
