/// The stylesheet that the pages of this repository share. A program appends rules of its own.
///
/// It has the colours of both schemes as custom properties, the elements of forms, lists and
/// notices, and the animation of what somebody else has changed. The contrast of each pair of
/// colours is at least 4.5 to 1.
public let pageStyle = """
    :root {
      color-scheme: light dark;
      --paper: #ffffff; --raised: #f5f6f8; --ink: #1b1f26; --quiet: #565e6c; --line: #d9dde4;
      --accent: #1d4ed8; --on-accent: #ffffff; --good: #17663a; --warn: #8a4b00; --bad: #b3261e;
      --glow: #fff1b8; --added: #d4f5de; --bad-paper: #fdecea; --key: #7a2ea0;
    }
    @media (prefers-color-scheme: dark) {
      :root {
        --paper: #14171c; --raised: #1d2128; --ink: #e6e8ec; --quiet: #a3abb8; --line: #353b46;
        --accent: #8ab4ff; --on-accent: #10141b; --good: #7bd69b; --warn: #f0b35e; --bad: #ff9a92;
        --glow: #564400; --added: #1c4a2c; --bad-paper: #43201e; --key: #d3a3ee;
      }
    }
    * { box-sizing: border-box }
    html { -webkit-text-size-adjust: 100% }
    body {
      margin: 0 auto; padding: 0 1rem 3rem; background: var(--paper); color: var(--ink);
      font: 1rem/1.5 system-ui, "Noto Sans", "DejaVu Sans", sans-serif;
    }
    h1 { font-size: 1.6rem; line-height: 1.25; margin: 1.25rem 0 .75rem; overflow-wrap: anywhere }
    h2 { font-size: 1.15rem; margin: 1.75rem 0 .5rem }
    a { color: var(--accent); text-underline-offset: .15em }
    a:not(:hover) { text-decoration-thickness: 1px }
    :focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; border-radius: 3px }
    nav { display: flex; flex-wrap: wrap; gap: .25rem 1.1rem; align-items: center }
    nav { padding: .7rem 0; border-bottom: 1px solid var(--line) }
    nav a { text-decoration: none; padding: .3rem 0 }
    nav a:hover { text-decoration: underline }
    nav a[aria-current] { color: var(--ink); font-weight: 600 }
    label { display: block; color: var(--quiet); font-size: .9rem }
    input, select, textarea, button {
      font: inherit; color: var(--ink); background: var(--paper);
      border: 1px solid var(--quiet); border-radius: 6px; padding: .4rem .6rem; max-width: 100%;
    }
    input[type=checkbox] { width: 1.1rem; height: 1.1rem; vertical-align: -.15rem; padding: 0 }
    textarea { width: 100%; min-height: 6rem }
    button { cursor: pointer; background: var(--raised) }
    button.primary {
      background: var(--accent); border-color: var(--accent); color: var(--on-accent);
    }
    button.danger { color: var(--bad); border-color: var(--bad) }
    ul, ol { padding-left: 1.25rem }
    .notice, .error {
      padding: .6rem .9rem; border-radius: 6px; border-left: 4px solid; margin: .9rem 0;
      overflow-wrap: anywhere;
    }
    .notice { background: var(--raised); border-color: var(--warn) }
    .error { background: var(--bad-paper); border-color: var(--bad) }
    .empty { color: var(--quiet); padding: 1.5rem 0 }
    .quiet { color: var(--quiet) }
    .hidden {
      position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%);
      white-space: nowrap;
    }
    @keyframes glow { from { background: var(--glow) } }
    @keyframes appear { from { background: var(--added); opacity: 0 } }
    .changed { animation: glow 3s ease-out }
    .added { animation: appear 1.5s ease-out }
    @media (prefers-reduced-motion: reduce) {
      .changed, .added { animation-timing-function: step-end }
    }

    """
