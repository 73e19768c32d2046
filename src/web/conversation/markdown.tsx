/**
 * Text of models and tools, as Markdown. It never becomes HTML: no raw HTML, no scheme but http and https in links, no image
 * from anywhere. Loaded when the first text is shown.
 */
import { memo, useRef, type ComponentProps, type ReactNode } from 'react'
import ReactMarkdown, { type Components } from 'react-markdown'
import remarkGfm from 'remark-gfm'
import { CopyButton } from './copy-button.tsx'

const PLUGINS = [remarkGfm]

/** An address with another scheme is removed; the text of the link stays. */
export function webAddress(url: string): string {
  return /^https?:\/\/[^\s]/i.test(url) ? url : ''
}

const COMPONENTS: Components = {
  a: ({ href, children }) =>
    href ? (
      <a href={href} target="_blank" rel="noopener noreferrer nofollow">
        {children}
      </a>
    ) : (
      <span>{children}</span>
    ),
  // An address that a model has written would tell its server that somebody reads this.
  img: ({ alt, src }) => (
    <span className="no-image">
      image{alt ? `: ${alt}` : ''} {typeof src === 'string' && src !== '' && <code>{src}</code>}
    </span>
  ),
  pre: Code,
  input: ({ checked }) => <span aria-label={checked ? 'done' : 'to do'}>{checked ? '☑' : '☐'} </span>,
  table: ({ children }) => (
    <div className="table" tabIndex={0} role="group" aria-label="Table">
      <table>{children}</table>
    </div>
  ),
  h1: ({ children }) => <p className="h1">{children}</p>,
  h2: ({ children }) => <p className="h2">{children}</p>,
  h3: ({ children }) => <p className="h3">{children}</p>,
  h4: ({ children }) => <p className="h3">{children}</p>,
  h5: ({ children }) => <p className="h3">{children}</p>,
  h6: ({ children }) => <p className="h3">{children}</p>,
}

function Code({ children }: ComponentProps<'pre'>): ReactNode {
  const block = useRef<HTMLPreElement>(null)
  return (
    <div className="code-block">
      <CopyButton text={() => block.current?.textContent ?? ''} />
      <pre ref={block} tabIndex={0}>
        {children}
      </pre>
    </div>
  )
}

/** @param props.text Markdown of somebody who is not trusted */
export const Markdown: (props: { text: string }) => ReactNode = memo(({ text }: { text: string }) => (
  <div className="prose">
    <ReactMarkdown remarkPlugins={PLUGINS} components={COMPONENTS} urlTransform={webAddress} skipHtml>
      {text}
    </ReactMarkdown>
  </div>
))
