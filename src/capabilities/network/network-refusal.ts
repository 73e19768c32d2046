/** A request that is not let out, or that came to nothing. It becomes a result that the model reads, never an exception. */

type Fault = 'permission_denied' | 'network_error' | 'timeout_error'

export class NetworkRefusal extends Error {
  override readonly name = 'NetworkRefusal'
  readonly type: Fault

  constructor(type: Fault, message: string) {
    super(message)
    this.type = type
  }
}

export interface NotReached {
  success: false
  error: { type: Fault; message: string }
}

/** Does work over the network, or tells the model why it cannot be done. */
export async function reaching<Result>(work: () => Promise<Result>): Promise<Result | NotReached> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof NetworkRefusal)) throw error
    return { success: false, error: { type: error.type, message: error.message } }
  }
}
