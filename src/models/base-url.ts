/** The base URL at which a model is asked. */
import { StelloError } from '../core/errors.ts'

/** @throws StelloError MODEL_REFUSED_REQUEST when `base` is no URL, or holds a user or a password */
export function checkedBaseURL(model: string, base: string): URL {
  if (!URL.canParse(base)) {
    throw new StelloError('MODEL_REFUSED_REQUEST', `model ${model}: the base URL is not a URL`, {
      hint: 'it looks like https://host/v1',
    })
  }
  const url = new URL(base)
  if (!url.username && !url.password) return url
  throw new StelloError(
    'MODEL_REFUSED_REQUEST',
    `model ${model}: the base URL of ${url.host} holds a user or password`,
    {
      hint: "take it out; give a key by apiKey, or { headers: { authorization: 'Basic …' } }",
    },
  )
}

/** Who serves a model: the provider, or the host of a base URL that is not the provider's own. */
export function servedBy(provider: string, ownBase: string, elsewhere: string | undefined): string {
  if (!elsewhere || !URL.canParse(elsewhere)) return provider
  const { host } = new URL(elsewhere)
  return host === new URL(ownBase).host ? provider : host
}

/** An environment variable; one that is blank counts as none. */
export function readVariable(name: string): string | undefined {
  return process.env[name]?.trim() || undefined
}
