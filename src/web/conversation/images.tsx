/** The images of a record: only from its own data, never from an address. */
import type { ReactNode } from 'react'
import type { Part } from '../../core/message.ts'

/** Formats that hold no script. */
const SAFE = /^image\/(png|jpeg|gif|webp|avif)$/

export function Images({ parts }: { parts: readonly Part[] }): ReactNode {
  const images = parts.filter((part) => part.type === 'image')
  if (images.length === 0) return null
  return (
    <div className="images">
      {images.map(({ mimeType, data }, index) =>
        SAFE.test(mimeType) ? (
          <img key={index} alt={`Image ${index + 1}`} src={`data:${mimeType};base64,${data}`} />
        ) : (
          <span key={index} className="no-image">
            image of type {mimeType}
          </span>
        ),
      )}
    </div>
  )
}
