/**
 * The calls of an answer that is still streaming in: it shows their cards in WAIT and gives tools their arguments
 * early. It does so only now and then, so that neither a long argument nor a slow tool holds up the stream.
 */
import type { ModelDelta } from '../../core/model.ts'
import type { SessionTools } from '../../agent/tool-list.ts'
import type { Tool } from '../../tool/tool.ts'
import { NOT_YET, type TurnContext } from '../tool/execute.ts'
import type { LiveStep } from '../live-writer.ts'
import { titled } from '../tool/call-names.ts'
import { PARTIAL_LIMIT, readPartial } from './partial-arguments.ts'
import { ToolChannel } from '../tool/tool-channel.ts'
import { ToolInstance } from '../tool/tool-instance.ts'
import type { KeptInstances } from '../tool/kept-instances.ts'

const LOOK_EVERY_MS = 100

type Piece = Extract<ModelDelta, { type: 'toolCall' }>

interface StreamingCall {
  id: string
  name: string
  text: string
  use: ToolInstance
  tool: Tool | undefined
  /** Something has arrived since the last look. */
  fresh: boolean
}

export interface Streaming {
  tools: SessionTools
  /** Names for people, by the tools' names: known when the model is asked. */
  titles: ReadonlyMap<string, string>
  live: LiveStep
  uses: KeptInstances
  /** The facts about its call that a tool may already know. */
  context: TurnContext
}

export class StreamingCalls {
  readonly #streaming: Streaming
  readonly #calls = new Map<number, StreamingCall>()
  #timer: NodeJS.Timeout | undefined

  constructor(streaming: Streaming) {
    this.#streaming = streaming
  }

  take(piece: Piece): void {
    const known = this.#calls.get(piece.index)
    // A text model may turn out to have only quoted what it seemed to call. Then another call takes its place.
    const anew = known && piece.id !== undefined && piece.id !== known.id
    if (anew) this.#streaming.uses.end(known.use)
    const call = known && !anew ? known : this.#open(piece)
    if (call.text.length <= PARTIAL_LIMIT) call.text += piece.arguments
    call.fresh = true
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined
      for (const each of this.#calls.values()) this.#look(each)
    }, LOOK_EVERY_MS)
  }

  /** @param idOf the call that will run, as `KeptInstances` knows it; undefined = it will not */
  end(idOf: (index: number, name: string) => string | undefined): void {
    clearTimeout(this.#timer)
    for (const [index, { name, use, tool }] of this.#calls) {
      const id = wantsPartial(tool) ? idOf(index, name) : undefined
      if (id === undefined) this.#streaming.uses.end(use)
      else this.#streaming.uses.park(id, use)
    }
    this.#calls.clear()
  }

  #open({ index, id = '', name = '' }: Piece): StreamingCall {
    const { tools, titles, live } = this.#streaming
    const found = tools.find(name)
    const tool = found && 'tool' in found ? found.tool : undefined
    const use = new ToolInstance(new ToolChannel({ id, name, ...titled(titles, name) }, { live }))
    const call: StreamingCall = { id, name, text: '', use, tool, fresh: true }
    this.#calls.set(index, call)
    use.channel.status('WAIT')
    return call
  }

  #look(call: StreamingCall): void {
    if (!call.fresh) return
    call.fresh = false
    const params = readPartial(call.text)
    if (!params) return
    const { tool, use } = call
    use.channel.status('WAIT', { params })
    if (!wantsPartial(tool)) return
    use.partial(tool, params, { ...NOT_YET, ...this.#streaming.context, ...use.channel.context, idempotencyKey: '' })
  }
}

/** A tool with an instance per call may want its arguments early. Only the instance shows it. */
function wantsPartial(tool: Tool | undefined): tool is Tool {
  return tool?.open !== undefined || tool?.onPartial !== undefined
}
