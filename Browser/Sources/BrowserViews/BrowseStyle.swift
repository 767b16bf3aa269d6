import HTMLPages

/// The stylesheet of the pages: the shared one, and the rules for tables, values and drawings.
public let browseStyle =
    pageStyle + """
        body { max-width: 90rem }
        .skip { position: absolute; left: -100vw }
        .skip:focus { left: 1rem; top: .5rem; background: var(--paper); padding: .5rem }
        .store { font-weight: 700; color: var(--ink) }
        .mode { margin-left: auto; font-size: .85rem }
        footer { margin-top: 3rem; border-top: 1px solid var(--line); padding-top: .75rem }
        footer { display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; font-size: .85rem }
        kbd { border: 1px solid var(--line); border-radius: 4px; padding: 0 .35em }
        .path { margin: 1rem 0 0 }
        .path + h1 { margin-top: .25rem }
        .links { display: flex; flex-wrap: wrap; gap: .4rem 1.25rem; align-items: baseline }
        a.button {
          border: 1px solid var(--quiet); border-radius: 6px; padding: .25rem .7rem;
          text-decoration: none; background: var(--raised); color: var(--ink);
        }
        a.button.danger { color: var(--bad); border-color: var(--bad) }
        h1 .count { font-size: 1rem; font-weight: 400 }
        .scroll { overflow-x: auto; border: 1px solid var(--line); border-radius: 8px }
        table.rows { border-collapse: collapse; width: 100%; font-size: .92rem }
        .rows th, .rows td {
          text-align: left; padding: .4rem .75rem; border-bottom: 1px solid var(--line);
          vertical-align: top; font-weight: 400;
        }
        .rows thead th { background: var(--raised); white-space: nowrap; font-weight: 600 }
        .rows tbody tr:last-child > * { border-bottom: 0 }
        .rows tbody tr:hover > *, .rows tbody tr:focus-within > * { background: var(--raised) }
        .rows tr.changed > *, .rows td.changed { animation: glow 3s ease-out }
        .rows tr.added > * { animation: appear 1.5s ease-out }
        .rows .number { text-align: right; font-variant-numeric: tabular-nums }
        .rows tbody th { white-space: nowrap }
        .rows time { white-space: nowrap }
        .rows .text {
          display: -webkit-box; -webkit-line-clamp: 3; -webkit-box-orient: vertical;
          overflow: hidden; min-width: 6rem; max-width: 28rem; overflow-wrap: anywhere;
        }
        .rows .runs { list-style: none; padding: 0; margin: 0 }
        .nil { color: var(--quiet); font-style: italic }
        code, pre, .json { font-family: ui-monospace, "DejaVu Sans Mono", monospace }
        code, pre, .json { font-size: .88em; overflow-wrap: anywhere }
        pre { white-space: pre-wrap; margin: .4rem 0 }
        .excerpt { white-space: pre; overflow-x: auto; margin: .5rem 0 0 }
        .excerpt mark { background: var(--glow); color: inherit }
        .filter .line { display: flex; flex-wrap: wrap; gap: .5rem }
        .filter input { font-family: ui-monospace, "DejaVu Sans Mono", monospace }
        .filter #where { flex: 1 1 18rem; min-width: 0 }
        .filter #sort { flex: 0 1 12rem; min-width: 0 }
        dl.values { margin: 0; border-top: 1px solid var(--line) }
        dl.values > div { border-bottom: 1px solid var(--line); padding: .5rem 0 }
        dl.values > div { display: grid; grid-template-columns: minmax(9rem, 16rem) 1fr; gap: 1rem }
        dl.values dt { font-weight: 600 }
        dl.values dt .quiet { display: block; font-weight: 400; font-size: .82rem }
        dl.values dd { margin: 0; min-width: 0; overflow-wrap: anywhere }
        dd > .text { white-space: pre-wrap }
        details .text { white-space: pre-wrap }
        summary { cursor: pointer }
        img.data { max-width: min(100%, 24rem); max-height: 24rem; border: 1px solid var(--line) }
        .json ul { list-style: none; margin: 0; padding-left: 1.25rem }
        .json summary { list-style-position: inside }
        .json details { display: inline-block; vertical-align: top }
        .json .key { color: var(--key) } .json .string { color: var(--good) }
        .list h3 { font-size: 1rem; margin: 1rem 0 .25rem }
        ul.objects { list-style: none; padding: 0; margin: .25rem 0 }
        ul.objects { display: flex; flex-wrap: wrap; gap: .25rem 1rem }
        dl.tiles { display: grid; gap: .6rem }
        dl.tiles { grid-template-columns: repeat(auto-fill, minmax(9rem, 1fr)) }
        .tiles > div { border: 1px solid var(--line); border-radius: 8px; padding: .5rem .75rem }
        .tiles dt { color: var(--quiet); font-size: .85rem }
        .tiles dd { margin: 0; font-size: 1.25rem; font-variant-numeric: tabular-nums }
        svg { max-width: 100%; height: auto; font: 13px system-ui, "DejaVu Sans", sans-serif }
        .drawing svg { max-width: none }
        svg text { fill: var(--ink) } svg .quiet { fill: var(--quiet) }
        svg a text { fill: var(--accent) }
        svg .box { fill: var(--paper); stroke: var(--quiet) }
        svg .head { fill: var(--raised); stroke: var(--quiet) }
        svg .link { fill: none; stroke: var(--accent); stroke-width: 1.5 }
        svg .dot { fill: var(--accent) }
        svg .parent { fill: none; stroke: var(--quiet); stroke-dasharray: 5 4 }
        svg .triangle { fill: var(--paper); stroke: var(--quiet) }
        svg .bar { fill: var(--accent) } svg .axis { stroke: var(--line) }
        svg .curve { fill: none; stroke: var(--accent); stroke-width: 2 }
        form.fields { max-width: 44rem }
        .fields .field { margin: 0 0 1rem }
        .fields .field > input:not([type=checkbox]), .fields select { width: 100% }
        .fields label { font-weight: 600; color: var(--ink) }
        .fields .quiet { font-size: .85rem }
        .fields .nil-box { font-weight: 400; font-size: .85rem; font-style: normal }
        .fields [aria-invalid=true] { border: 2px solid var(--bad) }
        .field .message { color: var(--bad); margin: .2rem 0 0 }
        .grid { display: grid; gap: .75rem }
        .grid { grid-template-columns: repeat(auto-fit, minmax(14rem, 1fr)) }
        fieldset { border: 1px solid var(--line); border-radius: 8px; min-width: 0 }
        .grid input, .grid select, input.wide { width: 100% }
        .grid fieldset input { margin-bottom: .35rem }
        .pair { display: flex; flex-wrap: wrap; gap: 0 .35rem; margin-bottom: .35rem }
        .grid .pair select { flex: 1 1 6rem; width: auto } .pair input { flex: 1 1 8rem }
        textarea.code, .query input { font-family: ui-monospace, "DejaVu Sans Mono", monospace }
        textarea.code { min-height: 3.5rem }
        .chart { margin: 1rem 0; overflow-x: auto }
        @media (max-width: 40rem) {
          body { padding: 0 .75rem 2rem }
          dl.values > div { grid-template-columns: 1fr; gap: .15rem }
          .mode { display: none }
          footer { display: none }
          .rows th, .rows td { padding: .45rem .55rem }
        }

        """
