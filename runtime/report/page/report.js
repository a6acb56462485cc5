// SPDX-License-Identifier: Apache-2.0
// Draws the figures of a report: charts by ECharts, access traces pixel by pixel. Reads #data and #docs; asks the network for nothing.
'use strict';
(() => {
  const data = JSON.parse(document.getElementById('data').textContent);
  const docs = JSON.parse(document.getElementById('docs').textContent);
  const root = document.documentElement;
  const prefersDark = matchMedia('(prefers-color-scheme: dark)');
  const still = matchMedia('(prefers-reduced-motion: reduce)').matches;

  // Okabe and Ito's colours, told apart by colour-blind readers; of each two tones, for light and dark paper.
  const kLight = ['#0072b2', '#d55e00', '#00805f', '#b0578d', '#2f8fc4', '#a87600', '#4b5563', '#7b3294'];
  const kDark = ['#56b4e9', '#ff8c4a', '#2fc79a', '#e69ac4', '#9fd4f5', '#f0c04a', '#b6c0ca', '#c39be0'];
  const kShapes = ['circle', 'rect', 'triangle', 'diamond', 'roundRect', 'pin'];
  const kLabelled = 6;  // series named at their end; more are named in a legend

  // ---- numbers as people read them

  const trim = (n) => String(Number(n.toPrecision(6)));
  const scaled = (n, steps) => {
    for (const [size, unit] of steps) if (Math.abs(n) >= size) return `${trim(n / size)} ${unit}`;
    return `${trim(n / steps.at(-1)[0])} ${steps.at(-1)[1]}`;
  };
  const kSteps = {
    'B': [[2 ** 30, 'GiB'], [2 ** 20, 'MiB'], [2 ** 10, 'KiB'], [1, 'B']],
    'B/s': [[1e12, 'TB/s'], [1e9, 'GB/s'], [1e6, 'MB/s'], [1, 'B/s']],
    's': [[1, 's'], [1e-3, 'ms'], [1e-6, 'µs'], [1e-9, 'ns']],
    '1/s': [[1e9, 'GHz'], [1e6, 'MHz'], [1, 'Hz']],
  };
  const shown = (n, unit) => kSteps[unit] ? (n === 0 ? `0 ${unit}` : scaled(n, kSteps[unit])) : trim(n) + (unit ? ` ${unit}` : '');
  const tick = (n, unit) => kSteps[unit] ? shown(n, unit) : Math.abs(n) >= 1e6 ? n.toExponential(2).replace(/\.?0+e/, 'e').replace('e+', 'e') : trim(n);
  const exact = (n, unit) => unit === 'B' && n >= 1024 && n % 1024 ? `${shown(n, unit)} (${n} B)` : shown(n, unit);
  const count = (n) => n.toLocaleString('en');
  const many = (n, what) => `${count(n)} ${what}${n === 1 ? '' : 's'}`;
  const escaped = (text) => String(text).replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);

  const element = (tag, properties = {}, ...children) => {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(properties)) {
      if (name in made && name !== 'role') made[name] = value;
      else made.setAttribute(name, value);
    }
    made.append(...children);
    return made;
  };
  const button = (label, action, properties = {}) => {
    const made = element('button', {type: 'button', textContent: label, ...properties});
    made.addEventListener('click', () => action(made));
    return made;
  };
  // The charting library writes a font's name between double quotes as it is.
  const kFonts = "system-ui, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif";
  // XML has no place for most control characters, and knows no entity of HTML.
  const xmlOf = (svg) => (typeof svg === 'string' ? svg : new XMLSerializer().serializeToString(svg)).replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, '\ufffd');
  const save = (name, svg) => {
    const url = URL.createObjectURL(new Blob([xmlOf(svg)], {type: 'image/svg+xml'}));
    const link = element('a', {href: url, download: `${name}.svg`});
    link.click();
    setTimeout(() => URL.revokeObjectURL(url), 1000);
  };

  let printing = false;
  const isDark = () => !printing && (root.dataset.theme ? root.dataset.theme === 'dark' : prefersDark.matches);
  const looks = (dark) => dark
    ? {dark, series: kDark, ink: '#e4e9ee', quiet: '#9aa7b4', line: '#2e3740', paper: '#14181d', mark: '#ff9d66', level: '#b6c0ca', hit: '#1d3a4d', stray: '#ffffff', blank: '#14181d'}
    : {dark, series: kLight, ink: '#1f2933', quiet: '#5b6875', line: '#e3e8ed', paper: '#ffffff', mark: '#a33b00', level: '#5b6875', hit: '#d6e6f2', stray: '#000000', blank: '#ffffff'};

  // ---- charts

  const axisTitle = (axis) => axis.unit ? `${axis.name} (${axis.unit === 'B' ? 'bytes' : axis.unit})` : axis.name;

  // Ticks of bytes stand at powers of two.
  const binary = (axis, low, high) => {
    if (axis.unit !== 'B' || axis.log || !(high > low)) return undefined;
    return 2 ** Math.max(0, Math.ceil(Math.log2((high - low) / 8)));
  };

  // Ticks of a logarithmic axis: powers of two for bytes, else of ten, or 1, 2 and 5 of each where there are few; the powers that
  // fit where there are many. Nothing where the range holds less than two.
  const logTicks = (low, high, unit, most) => {
    const base = unit === 'B' ? 2 : 10, power = (n) => Math.log(n) / Math.log(base);
    const first = Math.floor(power(low) + 1e-9), count = Math.max(0, Math.ceil(power(high) - 1e-9) - first + 1);
    const inside = (values) => values.filter((n) => n >= low * (1 - 1e-9) && n <= high * (1 + 1e-9));
    const powers = Array.from({length: count}, (_, i) => Number((base ** (first + i)).toPrecision(12)));
    const whole = inside(powers), finer = base === 10 ? inside(powers.flatMap((n) => [n, 2 * n, 5 * n].map((m) => Number(m.toPrecision(12))))) : whole;
    if (whole.length < 4 && finer.length <= most) return finer.length > 1 ? finer : undefined;
    const step = Math.max(1, Math.ceil(whole.length / most));
    const kept = whole.filter((_, i) => i % step === 0);
    return kept.length > 1 ? kept : undefined;
  };
  // The nearest tick-like number that is no larger, or no smaller.
  const logEnd = (n, unit, up) => {
    const base = unit === 'B' ? 2 : 10, power = base ** Math.floor(Math.log(n) / Math.log(base) + 1e-9);
    const steps = (base === 2 ? [1, 2] : [1, 2, 5, 10]).map((m) => Number((m * power).toPrecision(12)));
    return up ? steps.find((m) => m >= n * (1 - 1e-9)) : steps.filter((m) => m <= n * (1 + 1e-9)).at(-1);
  };

  // Between colours of a ramp: dark to light on light paper, the other way round on dark. Of viridis (van der Walt and Smith), which
  // grows evenly in lightness and is told apart by colour-blind readers.
  const kRamp = ['#440154', '#472d7b', '#3b528b', '#2c728e', '#21918c', '#28ae80', '#5ec962', '#addc30', '#fde725'];
  const ramp = (part) => {
    const at = Math.min(1, Math.max(0, part)) * (kRamp.length - 1), i = Math.min(kRamp.length - 2, Math.floor(at));
    const [a, b] = [kRamp[i], kRamp[i + 1]].map((colour) => [1, 3, 5].map((from) => parseInt(colour.slice(from, from + 2), 16)));
    return `#${a.map((n, k) => Math.round(n + (b[k] - n) * (at - i)).toString(16).padStart(2, '0')).join('')}`;
  };
  // Of so many curves no two have one colour: the ends of the ramp that the paper hides are left out.
  const curveColour = (s, of, look) => of <= look.series.length ? look.series[s] : ramp((look.dark ? 0.22 : 0) + 0.78 * s / (of - 1));

  class Chart {
    constructor(figure, number) {
      this.figure = figure;
      this.name = `${figure.stage}-${number + 1}`;
      this.log = {x: figure.x.log, y: figure.y.log};
      const dots = figure.series.flatMap((series) => series.dots);
      this.low = {x: Math.min(...dots.map((dot) => dot[0])), y: Math.min(...dots.map((dot) => dot[1]))};
      this.high = {x: Math.max(...dots.map((dot) => dot[0])), y: Math.max(...dots.map((dot) => dot[1]))};
      this.cloud = figure.series.some((series) => series.dots.some((dot, i) => i > 0 && dot[0] === series.dots[i - 1][0]));
      this.of = figure.series.reduce((sum, series) => sum + series.of, 0);
      this.drawn = dots.length;
      this.rough = dots.filter((dot) => dot.length > 2).length;
      this.zoom = [0, 100];
      // Two swept axes: x, and the curves. Where there are many curves, cells show more than lines.
      const xs = new Set(dots.map((dot) => dot[0]));
      this.grid = !this.cloud && figure.series.length > 2 && xs.size > 2 && dots.length >= 0.5 * xs.size * figure.series.length ? [...xs].sort((a, b) => a - b) : null;
      this.heat = this.grid !== null && figure.series.length > kLight.length;
      this.at = {series: 0, dot: -1};
      this.title = `${figure.y.name} over ${figure.x.name}`;
      this.build();
    }

    build() {
      const {figure} = this;
      this.box = element('div', {className: 'chart', tabIndex: 0, role: 'application', 'aria-roledescription': 'chart', 'aria-label': this.description()});
      this.readout = element('p', {className: 'readout', 'aria-live': 'polite'});
      this.zoomers = [button('Zoom in', () => this.zoomBy(0.5)), button('Zoom out', () => this.zoomBy(2)), button('Reset', () => this.reset())];
      const logs = ['x', 'y'].filter((axis) => this.low[axis] > 0).map((axis) =>
        button(`log ${axis}`, (self) => { this.log[axis] = !this.log[axis]; self.setAttribute('aria-pressed', this.log[axis]); this.draw(); }, {'aria-pressed': this.log[axis], 'aria-label': `logarithmic ${axis} axis`}));
      if (this.grid) {
        logs.push(button('heat map', (self) => { this.heat = !this.heat; self.setAttribute('aria-pressed', this.heat); this.draw(); }, {'aria-pressed': this.heat, 'aria-label': 'a cell a point, coloured by its value'}));
      }
      const drawn = this.drawn < this.of
        ? `${count(this.drawn)} of ${many(this.of, 'point')} drawn: of each neighbourhood the first, last, lowest and highest, so that nothing that stands out is lost.`
        : `${many(this.of, 'point')}.`;
      const rough = this.rough ? ` ${many(this.rough, 'point')} did not converge, drawn hollow.` : '';
      this.holder = element('figure', {className: 'figure', 'data-figure': this.name},
        element('div', {className: 'head'},
          element('div', {}, element('h3', {textContent: this.title}), element('p', {textContent: `${figure.stage}${docs[figure.stage] ? `: ${docs[figure.stage]}` : ''}`})),
          element('div', {className: 'tools'}, ...this.zoomers, ...logs, button('SVG', () => save(this.name, this.svg()), {'aria-label': `save ${this.title} as SVG`}))),
        this.box, this.readout, element('p', {className: 'readout drawn', textContent: drawn + rough}), this.table());
      document.getElementById('plots').append(this.holder);
      this.idle = 'Arrow keys read the points, + and − zoom, 0 resets; or point at the chart.';
      this.box.addEventListener('keydown', (event) => this.key(event));
      this.box.addEventListener('focus', () => { if (this.at.dot < 0) this.readout.textContent = this.idle; });
      this.box.addEventListener('blur', () => { this.chart.dispatchAction({type: 'hideTip'}); this.readout.textContent = ''; this.at.dot = -1; });
    }

    description() {
      const {figure} = this;
      const marks = figure.marks.map((mark) => `${mark.finding} at ${mark.text}`).join(', ');
      return `${this.title}: ${many(figure.series.length, 'curve')} of ${many(this.of, 'point')}, x from ${shown(this.low.x, figure.x.unit)} to ${shown(this.high.x, figure.x.unit)}, y from ` +
        `${shown(this.low.y, figure.y.unit)} to ${shown(this.high.y, figure.y.unit)}${marks ? `; marked: ${marks}` : ''}. Arrow keys read the points; the data follow as a table.`;
    }

    // A table for those who do not see the chart, made when it is opened.
    table() {
      const {figure} = this;
      const holder = element('div', {className: 'rows', tabIndex: 0});
      const details = element('details', {}, element('summary', {textContent: 'Data as a table'}), holder);
      details.addEventListener('toggle', () => {
        if (!details.open || holder.firstChild) return;
        const named = figure.series.some((series) => series.name);
        const body = element('tbody');
        let left = 2000;
        for (const series of figure.series) {
          for (const dot of series.dots.slice(0, Math.max(0, left))) {
            const row = body.insertRow();
            if (named) row.insertCell().textContent = series.name;
            row.insertCell().textContent = exact(dot[0], figure.x.unit);
            row.insertCell().textContent = shown(dot[1], figure.y.unit) + (dot.length > 2 ? ' (not converged)' : '');
            --left;
          }
        }
        const heads = [...(named ? ['curve'] : []), figure.x.name, figure.y.name].map((text) => element('th', {scope: 'col', textContent: text}));
        holder.append(element('table', {}, element('thead', {}, element('tr', {}, ...heads)), body));
        if (left <= 0) holder.append(element('p', {className: 'quiet', textContent: 'The first 2,000 rows; all are in the result file: gexp infer RESULT --points STAGE.'}));
      });
      return details;
    }

    window() {  // of x that is in view
      const [from, to] = this.zoom.map((part) => part / 100);
      const at = (part) => this.log.x ? this.low.x * (this.high.x / this.low.x) ** part : this.low.x + (this.high.x - this.low.x) * part;
      return [at(from), at(to)];
    }

    // Whether curves end so far from each other that their names have room there.
    endsApart() {
      const height = (n) => this.log.y ? Math.log(n / this.low.y) / Math.log(this.high.y / this.low.y) : n / this.high.y;
      const ends = this.figure.series.map((series) => height(series.dots.at(-1)[1])).sort((a, b) => a - b);
      return ends.every((end, i) => i === 0 || end - ends[i - 1] > 0.06);
    }

    axis(which, look, width) {
      const axis = this.figure[which], log = this.log[which];
      const [low, high] = which === 'x' ? this.window() : [0, this.high.y];
      const made = {
        type: log ? 'log' : 'value', name: which === 'x' ? axisTitle(axis) : '', nameLocation: 'middle', nameGap: 30, nameTextStyle: {color: look.ink, fontSize: 13},
        axisLine: {show: which === 'x', lineStyle: {color: look.quiet}}, axisTick: {show: which === 'x', lineStyle: {color: look.quiet}},
        splitLine: {show: which === 'y', lineStyle: {color: look.line}}, minorSplitLine: {show: false},
        axisLabel: {color: look.quiet, fontSize: 12, hideOverlap: true, formatter: (n) => tick(n, axis.unit)}, animation: false,
      };
      if (log) {
        made.logBase = axis.unit === 'B' ? 2 : 10;
        const [from, to] = which === 'x' ? [low, high] : [logEnd(this.low.y, axis.unit, false), logEnd(this.high.y, axis.unit, true)];
        const ticks = logTicks(from, to, axis.unit, which === 'x' && width < 500 ? 5 : which === 'x' ? 12 : 8);
        if (ticks) made.axisLabel.customValues = made.axisTick.customValues = ticks;
      }
      if (which === 'x') {
        Object.assign(made, log ? {min: this.low.x, max: this.high.x} : {min: this.low.x, max: this.high.x === this.low.x ? this.low.x + 1 : this.high.x}, {splitNumber: width < 500 ? 4 : 8});
        if (!log && axis.unit === 'B') Object.assign(made, {interval: binary(axis, low, high) * (width < 500 ? 2 : 1), min: Math.floor(this.low.x / binary(axis, this.low.x, this.high.x)) * binary(axis, this.low.x, this.high.x) || 0});
      } else if (log) {
        Object.assign(made, {min: logEnd(this.low.y, axis.unit, false), max: logEnd(this.high.y, axis.unit, true)});
      } else {
        made.scale = this.cloud && this.low.y > 0.6 * this.high.y && this.low.y < this.high.y;  // the scatter of single accesses, not their height
      }
      return made;
    }

    // A cell a point: across x, down the curves, coloured by y.
    heatOption(look, width, height, plain) {
      const {figure, grid} = this, names = figure.series.map((series) => series.name);
      const {low, high} = {low: this.low.y, high: this.high.y};
      const part = (n) => high === low ? 0.5 : this.log.y ? Math.log(n / low) / Math.log(high / low) : (n - low) / (high - low);
      const left = 24 + 7.2 * Math.max(...names.map((name) => name.length)), [top, bottom, right] = [34, 52, 20];
      const cell = [Math.max(2, (width - left - right) / grid.length), Math.max(2, (height - top - bottom) / names.length)];
      const points = figure.series.flatMap((series, s) => series.dots.map((dot, i) => ({value: [grid.indexOf(dot[0]), s], dot, of: [s, i], itemStyle: {color: ramp(part(dot[1])), borderColor: dot.length > 2 ? look.mark : undefined, borderWidth: dot.length > 2 ? 2 : 0}})));
      const labels = {color: look.quiet, fontSize: 12, hideOverlap: true};
      return {
        animation: false, aria: {enabled: false}, backgroundColor: plain ? look.paper : 'transparent', textStyle: {fontFamily: kFonts},
        title: {text: `${axisTitle(figure.y)}: from ${shown(low, figure.y.unit)} (dark) to ${shown(high, figure.y.unit)} (light)${this.log.y ? ', logarithmic' : ''}`, left: 8, top: 2, padding: 0, textStyle: {color: look.ink, fontSize: 13, fontWeight: 400}},
        grid: {left, right, top, bottom},
        xAxis: {type: 'category', data: grid.map((n) => tick(n, figure.x.unit)), name: axisTitle(figure.x), nameLocation: 'middle', nameGap: 30, nameTextStyle: {color: look.ink, fontSize: 13}, axisLabel: labels, splitLine: {show: false}},
        yAxis: {type: 'category', data: names, inverse: true, axisLabel: labels, splitLine: {show: false}},
        tooltip: {trigger: 'item', confine: true, transitionDuration: 0, backgroundColor: look.paper, borderColor: look.quiet, textStyle: {color: look.ink, fontSize: 13}, formatter: ({data: at}) =>
          `<div class="tip">${escaped(figure.x.name)} = <b>${escaped(exact(at.dot[0], figure.x.unit))}</b><br>${escaped(names[at.of[0]])}: <b>${escaped(shown(at.dot[1], figure.y.unit))}</b>${at.dot.length > 2 ? ' not converged' : ''}</div>`},
        series: [{type: 'scatter', symbol: 'rect', symbolSize: cell, data: points, animation: false, clip: false}],
      };
    }

    // What to draw, for this paper and width; `plain`: for a file, without what only hands need.
    option(look, width, plain, height = this.box.clientHeight) {
      if (this.heat) return this.heatOption(look, width, height, plain);
      const {figure} = this;
      const named = figure.series.filter((series) => series.name);
      const direct = named.length > 0 && named.length <= kLabelled && !this.cloud && width >= 560 && this.endsApart();
      const legend = named.length > 0 && !direct;
      const places = figure.marks.filter((mark) => !mark.level), levels = figure.marks.filter((mark) => mark.level);
      const longest = Math.max(0, ...named.map((series) => series.name.length));
      const top = 34 + 17 * places.length + (legend ? 28 : 0);
      const middle = this.log.x ? Math.sqrt(this.low.x * this.high.x) : (this.low.x + this.high.x) / 2;
      const series = figure.series.map((each, s) => {
        const colour = curveColour(s, figure.series.length, look);
        const points = each.dots.map((dot) => dot.length > 2
          ? {value: dot.slice(0, 2), symbol: 'emptyCircle', symbolSize: 10, itemStyle: {color: look.mark, borderColor: look.mark, borderWidth: 2}} : {value: dot});
        const made = {
          name: each.name || figure.y.name, type: this.cloud ? 'scatter' : 'line', data: points, color: colour, animation: false, showAllSymbol: true, clip: true,
          symbol: kShapes[figure.series.length > look.series.length ? s % kShapes.length : 0], symbolSize: this.cloud ? 4 : each.dots.length > 200 ? 3 : 6, lineStyle: {width: 2}, emphasis: {focus: 'series', scale: 1.5}, z: 3,
        };
        if (this.cloud) Object.assign(made, {itemStyle: {opacity: 0.7}, large: false});
        if (direct && each.name) Object.assign(made, {endLabel: {show: true, formatter: each.name, color: colour, fontSize: 12, fontWeight: 600, distance: 6}});
        return made;
      });
      const label = (mark, where) => ({show: true, formatter: `${mark.finding} = ${mark.text}`, color: mark.level ? look.level : look.mark, fontSize: 12, fontWeight: 600, ...where});
      const marks = figure.marks.map((mark) => mark.level
        ? {yAxis: mark.at, lineStyle: {color: look.level, type: 'dotted', width: 1.5}, label: label(mark, {position: 'insideStartTop'})}
        : {xAxis: mark.at, lineStyle: {color: look.mark, type: 'dashed', width: 2},
           label: label(mark, {position: 'end', distance: 4 + 17 * places.indexOf(mark), align: places.length && mark.at > middle ? 'right' : 'left'})});
      if (series.length) {
        series[0].markLine = {silent: true, symbol: 'none', animation: false, data: marks};
        const areas = figure.marks.filter((mark) => mark.interval && mark.interval[0] !== mark.interval[1]).map((mark) => {
          const key = mark.level ? 'yAxis' : 'xAxis';
          return [{[key]: mark.interval[0], itemStyle: {color: mark.level ? look.level : look.mark, opacity: 0.13}}, {[key]: mark.interval[1]}];
        });
        series[0].markArea = {silent: true, animation: false, data: areas};
      }
      return {
        animation: false, aria: {enabled: false}, backgroundColor: plain ? look.paper : 'transparent', textStyle: {fontFamily: kFonts},
        grid: {left: 14, right: direct ? 24 + 7.2 * longest : 36, top, bottom: plain ? 36 : 82, containLabel: true},
        title: {text: axisTitle(figure.y), left: 8, top: legend ? 30 : 2, padding: 0, textStyle: {color: look.ink, fontSize: 13, fontWeight: 400}},  // upright, above its axis
        legend: {show: legend, type: plain ? 'plain' : 'scroll', top: 0, left: 0, right: 10, textStyle: {color: look.ink}, pageTextStyle: {color: look.ink}, pageIconColor: look.ink, itemHeight: 10},
        xAxis: this.axis('x', look, width), yAxis: this.axis('y', look, width),
        dataZoom: [{type: 'inside', filterMode: 'none', start: this.zoom[0], end: this.zoom[1], zoomOnMouseWheel: 'ctrl', moveOnMouseWheel: false},
          {type: 'slider', show: !plain, filterMode: 'none', start: this.zoom[0], end: this.zoom[1], height: 22, bottom: 8, left: 30, right: 30, borderColor: look.line, fillerColor: look.dark ? 'rgba(86,180,233,.15)' : 'rgba(0,114,178,.1)',
           showDetail: false, dataBackground: {lineStyle: {color: look.quiet, opacity: 0.5}, areaStyle: {color: look.line, opacity: 0.5}}, selectedDataBackground: {lineStyle: {color: look.series[0]}, areaStyle: {color: look.series[0], opacity: 0.15}},
           handleStyle: {color: look.paper, borderColor: look.quiet}, moveHandleSize: 0, brushSelect: false}],
        tooltip: {trigger: this.cloud ? 'item' : 'axis', confine: true, transitionDuration: 0, backgroundColor: look.paper, borderColor: look.quiet, textStyle: {color: look.ink, fontSize: 13},
          axisPointer: {type: 'line', snap: true, lineStyle: {color: look.quiet}}, formatter: (given) => this.tip([].concat(given))},
        series,
      };
    }

    tip(given) {
      const {x, y} = this.figure;
      const dots = given.filter((each) => each.value);
      if (!dots.length) return '';
      const line = (each) => {
        const dot = this.figure.series[each.seriesIndex].dots[each.dataIndex];
        return `${each.marker}${escaped(this.figure.series[each.seriesIndex].name || y.name)}: <b>${escaped(shown(dot[1], y.unit))}</b>${dot.length > 2 ? ' not converged' : ''}`;
      };
      return `<div class="tip">${escaped(x.name)} = <b>${escaped(exact(dots[0].value[0], x.unit))}</b><br>${dots.slice(0, 12).map(line).join('<br>')}${dots.length > 12 ? '<br>…' : ''}</div>`;
    }

    draw(look = looks(isDark())) {
      if (!this.chart) {
        this.chart = echarts.init(this.box, null, {renderer: 'canvas'});
        this.chart.on('datazoom', () => {
          if (this.heat) return;
          const {start, end} = this.chart.getOption().dataZoom[0];
          if (start === this.zoom[0] && end === this.zoom[1]) return;
          this.zoom = [start, end];
          if (this.log.x || this.figure.x.unit === 'B') this.chart.setOption({xAxis: this.axis('x', looks(isDark()), this.box.clientWidth)});
        });
      }
      this.chart.setOption(this.option(look, this.box.clientWidth, false), true);
    }

    svg() {
      const width = 760, height = 440;
      const chart = echarts.init(null, null, {renderer: 'svg', ssr: true, width, height});
      chart.setOption(this.option(looks(false), width, true, height));
      const text = chart.renderToSVGString();
      chart.dispose();
      return text;
    }

    setZoom(from, to) {
      if (this.heat) return;  // all of its cells are in view
      const width = Math.min(100, Math.max(0.01, to - from));
      const start = Math.min(Math.max(0, from), 100 - width);
      this.chart.dispatchAction({type: 'dataZoom', start, end: start + width});
    }
    zoomBy(factor) {
      const [from, to] = this.zoom, half = (to - from) / 2 * factor, centre = (from + to) / 2;
      this.setZoom(centre - half, centre + half);
    }
    reset() { this.setZoom(0, 100); }

    key(event) {
      const moves = {ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0]};
      if (event.ctrlKey || event.altKey || event.metaKey) return;
      if (event.key === '+' || event.key === '=') this.zoomBy(0.5);
      else if (event.key === '-') this.zoomBy(2);
      else if (event.key === '0') this.reset();
      else if (event.key === 'Escape') this.chart.dispatchAction({type: 'hideTip'});
      else if (moves[event.key] || event.key === 'Home' || event.key === 'End') this.move(event.key, moves[event.key]);
      else return;
      event.preventDefault();
    }
    move(key, step) {
      const {series, x, y} = this.figure;
      if (step) this.at.series = (this.at.series + step[0] + series.length) % series.length;
      const dots = series[this.at.series].dots;
      const to = key === 'Home' ? 0 : key === 'End' ? dots.length - 1 : this.at.dot + step[1];
      this.at.dot = Math.min(Math.max(0, to), dots.length - 1);
      const dot = dots[this.at.dot], name = series[this.at.series].name;
      const before = series.slice(0, this.at.series).reduce((sum, each) => sum + each.dots.length, 0);  // cells are one list
      this.chart.dispatchAction({type: 'showTip', seriesIndex: this.heat ? 0 : this.at.series, dataIndex: this.heat ? before + this.at.dot : this.at.dot});
      this.readout.textContent = `${name ? `${name}: ` : ''}${x.name} = ${exact(dot[0], x.unit)}, ${y.name} = ${shown(dot[1], y.unit)}${dot.length > 2 ? ', not converged' : ''} (point ${this.at.dot + 1} of ${dots.length})`;
    }

    resize(width) { if (this.chart) { this.chart.resize(width ? {width} : undefined); this.draw(); } }
  }

  // ---- access traces

  class Raster {
    constructor(raster) {
      this.raster = raster;
      this.columns = Math.max(...raster.rows.map((row) => row.ticks.reduce((sum, n, i) => sum + (i % 2 ? n : 0), 0)));
      this.cells = raster.rows.map((row) => {
        const cells = new Uint32Array(this.columns);
        let at = 0;
        for (let i = 0; i < row.ticks.length; i += 2) { cells.fill(row.ticks[i], at, at + row.ticks[i + 1]); at += row.ticks[i + 1]; }
        return {cells, length: at};
      });
      this.build();
    }

    level(ticks) {  // of a latency class; as many as there are: an outlier
      const at = this.raster.levels.findIndex((level) => ticks <= level.to);
      return at < 0 ? this.raster.levels.length : at;
    }
    levelName(at) {
      const {levels} = this.raster;
      if (at >= levels.length) return 'outlier';
      const cycles = `${trim(levels[at].centre)} cycles`;
      if (levels.length === 1) return `all alike, ${cycles}`;
      return at === 0 ? `hit, ${cycles}` : levels.length === 2 ? `miss, ${cycles}` : `class ${at + 1} of ${levels.length}, ${cycles}`;
    }
    colour(at, look) {
      const {levels} = this.raster;
      if (at >= levels.length) return look.stray;
      if (at === 0) return look.hit;
      const ramp = look.dark ? ['#ff8c4a', '#e69ac4', '#f0c04a', '#9fd4f5'] : ['#d55e00', '#7b3294', '#a87600', '#00805f'];
      return ramp[(at - 1) % ramp.length];
    }

    build() {
      const {raster} = this;
      this.canvas = element('canvas', {tabIndex: 0, role: 'img', 'aria-label': this.description()});
      const height = Math.max(90, Math.min(360, raster.rows.length * Math.max(2, Math.floor(160 / raster.rows.length))));
      this.canvas.style.height = `${height}px`;
      this.readout = element('p', {className: 'readout', 'aria-live': 'polite'});
      this.keys = element('div', {className: 'key'});
      const joined = raster.runs_a_row > 1 || raster.steps_a_column > 1
        ? `${many(raster.accesses, 'access').replace('accesss', 'accesses')}: a cell is the slowest of ${raster.runs_a_row > 1 ? `${raster.runs_a_row} runs` : ''}${raster.runs_a_row > 1 && raster.steps_a_column > 1 ? ' by ' : ''}${raster.steps_a_column > 1 ? `${raster.steps_a_column} accesses` : ''}.`
        : `${count(raster.accesses)} accesses, each a cell.`;
      document.getElementById('rasters').append(element('figure', {className: 'figure', 'data-raster': raster.stage},
        element('div', {className: 'head'},
          element('div', {}, element('h3', {textContent: `${raster.stage}: ${raster.record} of every access`}), element('p', {textContent: docs[raster.stage] || ''})),
          element('div', {className: 'tools'}, button('SVG', () => save(`${raster.stage}-trace`, this.svg()), {'aria-label': `save the trace of ${raster.stage} as SVG`}))),
        element('div', {className: 'raster'},
          element('div', {className: 'side', textContent: `↓ ${raster.rows[0].name.split(' … ')[0]} … ${raster.rows.at(-1).name.split(' … ').at(-1)}`}), this.canvas,
          element('div', {className: 'ends'}, element('span', {textContent: '0'}), element('span', {textContent: 'access'}), element('span', {textContent: count(raster.steps)}))),
        this.keys, this.readout, this.drawn = element('p', {className: 'readout drawn'})));
      this.joined = joined;
      const show = (event) => {
        const box = this.canvas.getBoundingClientRect();
        const {width, height} = this.canvas;
        const pixel = (at, from, size, pixels) => Math.min(pixels - 1, Math.max(0, Math.floor((at - from) / size * pixels)));
        const [, column, row] = this.slowest(pixel(event.clientX, box.left, box.width, width), pixel(event.clientY, box.top, box.height, height), width, height);
        this.show(column, row);
      };
      this.canvas.addEventListener('pointermove', show);
      this.canvas.addEventListener('pointerdown', show);
      this.canvas.addEventListener('pointerleave', () => { this.readout.textContent = ''; });
      this.cursor = [-1, 0];
      this.canvas.addEventListener('keydown', (event) => {
        const step = {ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1]}[event.key];
        if (!step) return;
        event.preventDefault();
        this.show(Math.max(0, this.cursor[0] + step[0]), this.cursor[1] + step[1]);
      });
    }

    description() {
      const {levels, rows, stage} = this.raster;
      return `Trace of ${stage}: ${many(rows.length, 'row')} of up to ${count(this.raster.steps)} accesses. ${levels.map((level, at) => `${this.levelName(at)}: ${count(level.support)}`).join('; ')}. Arrow keys read the cells.`;
    }

    show(column, row) {
      const {raster} = this;
      this.cursor = [Math.min(column, this.columns - 1), Math.min(Math.max(0, row), raster.rows.length - 1)];
      const [x, y] = this.cursor, line = this.cells[y], step = raster.steps_a_column;
      if (x < 0) return;
      const where = step > 1 ? `accesses ${count(x * step)} to ${count((x + 1) * step - 1)}: slowest` : `access ${count(x)}:`;
      this.readout.textContent = x < line.length
        ? `${raster.rows[y].name}, ${where} ${trim(line.cells[x] - raster.rows[y].overhead)} cycles (${this.levelName(this.level(line.cells[x]))})` : `${raster.rows[y].name}: its walk ended before`;
    }

    // The slowest of the cells that a pixel covers, and where it is: no miss is lost between pixels.
    slowest(x, y, width, height) {
      const {cells} = this;
      const [left, right] = [x, x + 1].map((at) => Math.floor(at * this.columns / width)), [top, bottom] = [y, y + 1].map((at) => Math.floor(at * cells.length / height));
      let ticks = 0, at = left, of = top;
      for (let row = top; row < Math.max(bottom, top + 1); ++row) {
        for (let column = left, end = Math.min(Math.max(right, left + 1), cells[row].length); column < end; ++column) {
          if (cells[row].cells[column] > ticks) [ticks, at, of] = [cells[row].cells[column], column, row];
        }
      }
      return [ticks, at, of];
    }

    paint(canvas, look, width, height) {
      canvas.width = Math.min(this.columns, Math.max(1, Math.round(width)));
      canvas.height = Math.min(this.cells.length, Math.max(1, Math.round(height)));
      const context = canvas.getContext('2d');
      const image = context.createImageData(canvas.width, canvas.height);
      const words = new Uint32Array(image.data.buffer);
      const colours = [...this.raster.levels, 0].map((_, at) => { const c = parseInt(this.colour(at, look).slice(1), 16); return (255 << 24 | (c & 255) << 16 | (c & 0xff00) | c >> 16) >>> 0; });
      const known = new Map();
      for (let y = 0; y < canvas.height; ++y) {
        for (let x = 0; x < canvas.width; ++x) {
          const [ticks] = this.slowest(x, y, canvas.width, canvas.height);
          if (ticks === 0) continue;
          let colour = known.get(ticks);
          if (colour === undefined) known.set(ticks, colour = colours[this.level(ticks)]);
          words[y * canvas.width + x] = colour;
        }
      }
      context.putImageData(image, 0, 0);
    }
    draw(look = looks(isDark())) {
      this.paint(this.canvas, look, this.canvas.clientWidth, this.canvas.clientHeight);
      const pixel = Math.ceil(this.columns / this.canvas.width) * Math.ceil(this.cells.length / this.canvas.height);
      this.drawn.textContent = this.joined + (pixel > 1 ? ` As wide as it is here, a pixel is the slowest of up to ${pixel} cells.` : '');
      const used = this.cells.some(({cells, length}) => cells.subarray(0, length).some((ticks) => this.level(ticks) === this.raster.levels.length));
      const names = this.raster.levels.map((level, at) => [at, `${this.levelName(at)} (${count(level.support)})`]);
      if (used) names.push([this.raster.levels.length, 'outlier: slower than any class']);
      this.keys.replaceChildren(...names.map(([at, name]) => {
        const square = element('i');
        square.style.background = this.colour(at, look);
        return element('span', {}, square, name);
      }));
    }
    svg() {
      const canvas = element('canvas'), look = looks(false), {raster} = this;
      this.paint(canvas, look, 1400, 620);
      const key = raster.levels.map((level, at) => `<rect x="${40 + at * 190}" y="392" width="12" height="12" fill="${this.colour(at, look)}"/><text x="${58 + at * 190}" y="403">${escaped(this.levelName(at))}</text>`).join('');
      return `<svg xmlns="http://www.w3.org/2000/svg" width="760" height="420" font-family="sans-serif" font-size="13" fill="#1f2933"><rect width="760" height="420" fill="#fff"/><text x="40" y="24">${escaped(`${raster.stage}: ${raster.record} of every access`)}</text>` +
        `<image x="40" y="40" width="700" height="310" preserveAspectRatio="none" style="image-rendering:pixelated" href="${canvas.toDataURL()}"/><rect x="40" y="40" width="700" height="310" fill="none" stroke="#999"/>` +
        `<text x="40" y="370">0</text><text x="390" y="370" text-anchor="middle">access</text><text x="740" y="370" text-anchor="end">${count(raster.steps)}</text><text transform="translate(26 195) rotate(-90)" text-anchor="middle">runs</text>${key}</svg>`;
    }
    resize() { this.draw(); }
  }

  // ---- the page

  const figures = [];
  for (const [kind, list, Kind] of [['plots', data.plots, Chart], ['rasters', data.rasters, Raster]]) {
    if (!list.length) continue;
    document.getElementById(kind).hidden = false;
    list.forEach((each, number) => figures.push(new Kind(each, number)));
  }
  const drawAll = (look) => figures.forEach((figure) => figure.draw(look));
  const theme = document.getElementById('theme');
  const apply = () => {
    root.toggleAttribute('data-dark', isDark());
    theme.textContent = isDark() ? 'Light' : 'Dark';
    theme.setAttribute('aria-label', `switch to ${isDark() ? 'light' : 'dark'} colours`);
    drawAll();
  };
  theme.hidden = false;
  theme.addEventListener('click', () => { root.dataset.theme = isDark() ? 'light' : 'dark'; apply(); });
  prefersDark.addEventListener('change', apply);
  apply();
  for (const holder of document.querySelectorAll('[data-svg]')) {
    const svg = holder.querySelector('svg');
    holder.prepend(element('div', {className: 'head'}, element('div'), element('div', {className: 'tools'}, button('SVG', () => save(holder.dataset.svg, svg), {'aria-label': `save the ${holder.dataset.svg} as SVG`}))));
  }
  let width = innerWidth;
  addEventListener('resize', () => { if (innerWidth !== width) { width = innerWidth; figures.forEach((figure) => figure.resize()); } });
  // On paper: light, as wide as the sheet.
  addEventListener('beforeprint', () => { printing = true; root.removeAttribute('data-dark'); figures.forEach((figure) => figure.resize(680)); });
  addEventListener('afterprint', () => { printing = false; figures.forEach((figure) => figure.resize()); apply(); });
  window.gexp = {figures, xmlOf, drawn: performance.now()};
})();
