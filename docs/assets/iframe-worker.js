// A browser starts no worker for a page on the disk. There the search's worker runs in a hidden frame of the page.
if (location.protocol === "file:") {
  window.IFrameWorker = class extends EventTarget {
    constructor(url) {
      super()
      this.waiting = []
      const frame = document.createElement("iframe")
      frame.hidden = true
      frame.onload = () => {
        frame.onload = null
        this.begin(frame.contentWindow, new URL(url, document.baseURI).href)
      }
      document.body.appendChild(frame)
    }

    begin(inner, url) {
      const load = (source) =>
        new Promise((done, failed) => {
          const script = inner.document.createElement("script")
          script.src = new URL(source, url).href
          script.onload = done
          script.onerror = failed
          inner.document.head.appendChild(script)
        })
      inner.importScripts = async (...sources) => {
        for (const source of sources) await load(source)
      }
      inner.postMessage = (data) =>
        setTimeout(() => this.dispatchEvent(new MessageEvent("message", { data: structuredClone(data) })))
      load(url).then(() => {
        this.inner = inner
        for (const data of this.waiting) this.postMessage(data)
      })
    }

    postMessage(data) {
      if (!this.inner) return this.waiting.push(data)
      const { MessageEvent, structuredClone } = this.inner
      this.inner.dispatchEvent(new MessageEvent("message", { data: structuredClone(data) }))
    }

    terminate() {}
  }
  window.Worker = window.IFrameWorker
}
