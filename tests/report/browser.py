# SPDX-License-Identifier: Apache-2.0
"""Opens reports in Debian's Chromium, without a screen or a network, as a reader would. browser.py GEXP EXPERIMENTS [SHOTS]

Three experiments and a result of five million records; a page with a planted error and a planted request shows that both would be seen.
With SHOTS, a folder, the screenshots of the documents are written there."""
import base64
import gzip
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree

try:
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys
except ImportError:
    webdriver = None

gexp, experiments = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
shots = os.path.abspath(sys.argv[3]) if len(sys.argv) > 3 else None
DRAWN_WITHIN = 2000  # milliseconds
passed, failed = 0, 0


def not_xml(text):
    """What an XML parser finds wrong with a text; nothing where it is well-formed."""
    try:
        xml.etree.ElementTree.fromstring(text)
    except xml.etree.ElementTree.ParseError as problem:
        return f'{problem}: {text[:200]}'
    return ''


def that(name, held, *seen):
    global passed, failed
    passed, failed = passed + bool(held), failed + (not held)
    if not held:
        print('FAIL', name, *seen)


def said(*command):
    return subprocess.run([gexp, *command], capture_output=True, text=True, check=True, stdin=subprocess.DEVNULL,
                          env={**os.environ, 'GEXP_EXPERIMENTS': experiments}).stdout


class Browser:
    def __init__(self):
        self.profile = tempfile.mkdtemp()
        options = webdriver.ChromeOptions()
        options.binary_location = shutil.which('chromium')
        for flag in ('headless=new', 'no-sandbox', 'disable-gpu', 'disable-quic', 'no-first-run', 'disable-background-networking', 'disable-component-update',
                     'disable-sync', 'disable-dev-shm-usage', f'user-data-dir={self.profile}', 'window-size=1100,900'):
            options.add_argument('--' + flag)
        options.set_capability('goog:loggingPrefs', {'browser': 'ALL', 'performance': 'ALL'})
        self.driver = webdriver.Chrome(service=Service(shutil.which('chromedriver')), options=options)
        self.run = self.driver.execute_script

    def close(self):
        self.driver.quit()
        shutil.rmtree(self.profile, ignore_errors=True)

    def emulate(self, width=None, dark=False):
        if width:
            self.driver.execute_cdp_cmd('Emulation.setDeviceMetricsOverride', {'width': width, 'height': 800, 'deviceScaleFactor': 2, 'mobile': True})
        else:
            self.driver.execute_cdp_cmd('Emulation.clearDeviceMetricsOverride', {})
        self.driver.execute_cdp_cmd('Emulation.setEmulatedMedia', {'features': [{'name': 'prefers-color-scheme', 'value': 'dark' if dark else 'light'}]})

    def open(self, page):
        """Its console errors, the addresses it asked for other than of its own kind, and milliseconds until all was drawn: the least
        of up to three times, since what else the machine does only adds to it."""
        self.driver.get_log('browser'), self.driver.get_log('performance')
        least = None
        for _ in range(3):
            self.driver.get('file://' + page)
            time.sleep(0.3)
            drawn = self.run('return window.gexp ? gexp.drawn : null')
            if drawn is None:
                break
            least = drawn if least is None else min(least, drawn)
            if least < DRAWN_WITHIN:
                break
        return self.errors(), self.requests(), least

    def errors(self):
        return [entry['message'] for entry in self.driver.get_log('browser') if entry['level'] == 'SEVERE']

    def requests(self):
        events = [json.loads(entry['message'])['message'] for entry in self.driver.get_log('performance')]
        asked = [event['params']['request']['url'] for event in events if event['method'] == 'Network.requestWillBeSent']
        return [url for url in asked if not url.startswith(('file:', 'data:', 'blob:'))]

    def find(self, css):
        return self.driver.find_element(By.CSS_SELECTOR, css)

    def inked(self, css):
        """Colours in a canvas: one where nothing was drawn."""
        return self.run('''const c = document.querySelector(arguments[0]); const d = new Uint32Array(c.getContext('2d').getImageData(0, 0, c.width, c.height).data.buffer);
                           return new Set(d).size''', css)

    def hover(self, css, x, y):
        target = self.find(css)
        self.run('arguments[0].scrollIntoView({block: "center"})', target)
        ActionChains(self.driver).move_to_element_with_offset(target, x, y).pause(0.2).perform()

    def shot(self, name, top, height, width=1085, left=0):
        if not shots:
            return
        clip = {'x': left, 'y': top, 'width': width, 'height': height, 'scale': 1}
        image = self.driver.execute_cdp_cmd('Page.captureScreenshot', {'format': 'png', 'captureBeyondViewport': True, 'clip': clip})
        with open(os.path.join(shots, name), 'wb') as out:
            out.write(base64.b64decode(image['data']))

    def top(self, css):
        return self.run('return document.querySelector(arguments[0]).getBoundingClientRect().top + scrollY', css)


def report(spec, device, work):
    name = spec.replace('/', '-')
    result, page = f'{work}/{name}.json', f'{work}/{name}.html'
    subprocess.run([gexp, 'run', f'{experiments}/{spec}.gexp', '--device', device, '--quiet', '--out', result, '--timeline', f'{work}/trace.json'], capture_output=True, stdin=subprocess.DEVNULL)
    said('report', result, '-o', page)
    return page


def look(browser, page, charts, rasters):
    """What holds of every report."""
    name = os.path.basename(page)
    browser.emulate()
    errors, requests, drawn = browser.open(page)
    that(f'{name}: no console error', not errors, errors)
    that(f'{name}: no request', not requests, requests)
    that(f'{name}: drawn', drawn is not None and drawn < DRAWN_WITHIN, drawn)
    that(f'{name}: charts', browser.run('return document.querySelectorAll(".chart canvas").length') == charts, browser.run('return document.querySelectorAll(".chart canvas").length'))
    that(f'{name}: rasters', browser.run('return document.querySelectorAll(".raster canvas").length') == rasters, browser.run('return document.querySelectorAll(".raster canvas").length'))
    if charts:
        that(f'{name}: a chart shows something', browser.inked('.chart canvas') > 3)
    if rasters:
        that(f'{name}: a raster shows something', browser.inked('.raster canvas') >= 1)
    banner = browser.find('.simulated')
    browser.run('scrollTo(0, document.body.scrollHeight)')
    that(f'{name}: the banner is in view to the end', banner.is_displayed() and banner.rect['height'] > 30 and browser.run('return document.querySelector(".simulated").getBoundingClientRect().top') == 0 and 'SIMULATED' in banner.text)
    unnamed = browser.run('return [...document.querySelectorAll("button, canvas[tabindex], .chart")].filter(e => !(e.textContent || e.getAttribute("aria-label"))).length')
    that(f'{name}: every control has a name', unnamed == 0, unnamed)
    light = browser.run('return getComputedStyle(document.documentElement).backgroundColor')
    browser.emulate(dark=True)
    time.sleep(0.2)
    that(f'{name}: dark where the reader wants it', browser.run('return getComputedStyle(document.documentElement).backgroundColor') != light and browser.run('return document.documentElement.hasAttribute("data-dark")'))
    browser.run('scrollTo(0, 0)')  # else the banner covers it
    browser.find('#theme').click()
    that(f'{name}: and light again', browser.run('return getComputedStyle(document.documentElement).backgroundColor') == light)
    browser.emulate(width=375)
    browser.open(page)
    that(f'{name}: fits a phone', browser.run('return document.documentElement.scrollWidth') <= 375, browser.run('return document.documentElement.scrollWidth'))


def work_with(browser, page):
    """The capacity curve of cache/structure: hover, zoom, axes, keys, marks, files."""
    browser.emulate()
    browser.open(page)
    option = 'return gexp.figures[0].chart.getOption()'
    ticks = browser.run(option + '.xAxis[0].axisLabel.customValues')
    that('with ticks at powers of two', ticks == [1024, 2048, 4096, 8192, 16384], ticks)
    that('n is on a log axis', browser.run(option + '.xAxis[0].type') == 'log')
    mark = browser.run(option + '.series[0].markLine.data.map(mark => [mark.xAxis, mark.label.formatter])')
    that('the capacity is drawn', [12288, 'capacity.C = 12 KiB'] in mark, mark)
    that('with its interval', browser.run(option + '.series[0].markArea.data.length') >= 1)
    browser.hover('.chart', -150, 0)
    tip = browser.run('return [...document.querySelectorAll(".chart .tip")].map(e => e.textContent + getComputedStyle(e.parentElement).visibility).join()')
    that('hover shows values', 'n = ' in tip and '110 cycles' in tip and 'visible' in tip, tip)
    window = lambda: browser.run('const z = gexp.figures[0].chart.getOption().dataZoom[0]; return z.end - z.start')
    browser.find('.figure[data-figure] button').click()
    that('zoom in', window() == 50, window())
    chart = browser.find('.chart')
    chart.send_keys('0')
    that('0 resets', window() == 100, window())
    chart.send_keys(Keys.ARROW_RIGHT, Keys.ARROW_RIGHT)
    readout = browser.find('.readout').text
    that('keys read the points', 'n = 2 KiB, median(lat) = 110 cycles (point 2 of 13)' in readout, readout)
    that('the chart has the focus', browser.run('return document.activeElement.className') == 'chart')
    browser.find('button[aria-label="logarithmic x axis"]').click()
    that('the axis can be linear', browser.run(option + '.xAxis[0].type') == 'value')
    browser.find('button[aria-label="logarithmic x axis"]').click()
    svg = browser.run('return gexp.figures[0].svg()')
    that('a figure is an SVG file too', svg.startswith('<svg') and 'capacity.C = 12 KiB' in svg and '</svg>' in svg, svg[:80])
    saved = browser.run('return gexp.figures.map((figure) => gexp.xmlOf(figure.svg())).concat([...document.querySelectorAll("[data-svg] svg")].map(gexp.xmlOf))')
    that('saved drawings are XML', len(saved) > 2 and not [wrong for wrong in map(not_xml, saved) if wrong], [wrong for wrong in map(not_xml, saved) if wrong])
    that('and a trace', '<image' in browser.run('return gexp.figures.at(-1).svg()'))
    browser.find('.figure[data-figure] summary').click()
    time.sleep(0.1)
    that('and a table', len(browser.driver.find_elements(By.CSS_SELECTOR, '.rows tbody tr')) == 13)
    browser.hover('.raster canvas', 10, 10)
    cell = browser.run('return document.querySelector("[data-raster] .readout").textContent')
    that('hover reads a trace', 'cycles (' in cell and 'run' in cell, cell)
    that('the hierarchy is drawn', '12 KiB' in browser.find('svg.hierarchy').text)
    that('the timeline too', 'waits for memory' in browser.find('svg.timeline').text and 'cycles since the launch began' in browser.find('svg.timeline').text)
    browser.shot('timeline.png', browser.top('#timeline'), 275)
    paper = browser.driver.execute_cdp_cmd('Page.printToPDF', {'printBackground': False})['data']
    that('it prints', len(paper) > 20000)
    browser.emulate(dark=True)
    browser.run('dispatchEvent(new Event("beforeprint"))')
    ink = browser.run(option + '.title[0].textStyle.color')
    that('in dark ink', ink == '#1f2933', ink)
    browser.run('dispatchEvent(new Event("afterprint"))')
    ink = browser.run(option + '.title[0].textStyle.color')
    that('and is dark again after', ink == '#e4e9ee', ink)
    browser.emulate()
    that('no console error meanwhile', not browser.errors())


def five_million(browser, work):
    """A stage of 1,250 runs of 4,000 accesses, no two alike, one of which stands out."""
    spec, result, page = f'{work}/many.gexp', f'{work}/many.json', f'{work}/many.html'
    with open(spec, 'w') as out:
        out.write('gexp 1\nexperiment many doc "five million </script><script>alert(1)</script> records"\nmemory A: u32[32KiB] in global\nstage s {\n  pattern ring = uniform(stride: 32B, span: 4KiB)\n'
                  '  launch grid 1 block 1\n  timed lat each { chase A by ring steps 4000 via nc }\n  record lat raw\n  repeat 2\n  find f: cycles = fastest(lat)\n  plot lat vs step\n}\n')
    said('run', spec, '--device', 'sim:gtx780', '--quiet', '--out', result)
    with open(result) as file:
        saved = json.load(file)
    chance = random.Random(1)
    point = saved['stages'][0]['points'][0]
    point['runs'] = [{'ticks': [n for _ in range(4000) for n in (chance.choice((127, 127, 127, 237)) + chance.randrange(8), 1)]} for _ in range(1250)]
    point['runs'][700]['ticks'][2 * 1234] = 990
    with open(result, 'w') as out:
        json.dump(saved, out)
    start = time.monotonic()
    said('report', result, '-o', page)
    took, size = time.monotonic() - start, os.path.getsize(page)
    that('five million records: a page under 5 MB', size < 5_000_000, size)
    browser.emulate()
    errors, requests, drawn = browser.open(page)
    that('no error, no request', not errors and not requests, errors, requests)
    that('drawn within 2 s', drawn is not None and drawn < DRAWN_WITHIN, drawn)
    seen = browser.run('return gexp.figures[0].figure.series[0].dots.some(dot => dot[0] === 1234 % 128 && dot[1] > 950)')
    that('the outlier is among the dots', seen)
    that('and in the trace', browser.run('return gexp.figures[1].cells.some(row => row.cells.includes(990))'))
    text = browser.find('.figure .drawn').text
    that('how many are drawn is said', 'of 5,000,000 points drawn' in text, text)
    that('a text that ends a script does not', 'five million </script>' in browser.find('.doc').text)
    start = time.monotonic()
    browser.find('.figure[data-figure] button').click()
    browser.run('return gexp.figures[0].chart.getOption().dataZoom[0].end')
    print(f'five million records: {size / 1e6:.2f} MB, made in {took:.1f} s, drawn in {drawn:.0f} ms, zoomed in {(time.monotonic() - start) * 1000:.0f} ms')


def planted(browser, page, work):
    """The test of the test."""
    bad = f'{work}/planted.html'
    with open(page) as file:
        text = file.read()
    begin = text.index('<meta http-equiv="Content-Security-Policy"')
    text = text[:begin] + text[text.index('>', begin) + 1:]
    with open(bad, 'w') as out:
        out.write(text.replace('</body>', '<img src="http://127.0.0.1:9/seen.png" alt=""><script>console.error("planted")</script><div style="width:900px">wide</div></body>'))
    errors, requests, _ = browser.open(bad)
    that('a planted error is seen', any('planted' in error for error in errors), errors)
    that('a planted request is seen', requests == ['http://127.0.0.1:9/seen.png'], requests)
    browser.emulate(width=375)
    that('a planted width is seen', browser.run('return document.documentElement.scrollWidth') > 375)
    browser.emulate()
    with open(bad, 'w') as out:  # with its policy, the page cannot ask at all
        with open(page) as file:
            out.write(file.read().replace('</body>', '<script>fetch("http://127.0.0.1:9/seen")</script></body>'))
    errors, requests, _ = browser.open(bad)
    that('the page forbids itself to ask', any('Content Security Policy' in error for error in errors), errors)


def pictures(browser, structure, average):
    """The other two of the documents."""
    if not shots:
        return
    browser.emulate()
    browser.open(average)
    top = browser.top('#plots')
    browser.shot('figures.png', top, 1150)
    browser.emulate(dark=True)
    browser.open(structure)
    top = browser.top('[data-raster="capacity"]') - 16
    browser.shot('traces.png', top, browser.top('[data-raster="line"]') - top - 14)
    browser.emulate()


def of_the_readme(browser, work):
    """The README's picture, in both colours: the L1 of an H200, from the records that its survey left."""
    if not shots:
        return
    result, page = f'{work}/h200-l1.json', f'{work}/h200-l1.html'
    with gzip.open(os.path.join(os.path.dirname(experiments), 'docs/results/h200/survey/l1.json.gz')) as packed, open(result, 'wb') as out:
        shutil.copyfileobj(packed, out)
    said('report', result, '-o', page)
    for dark in (False, True):
        browser.emulate(width=880, dark=dark)
        browser.open(page)
        chart = browser.run('const c = document.querySelector("#plots canvas").getBoundingClientRect(); return [c.left + scrollX, c.top + scrollY, c.width, c.height]')
        left, top, width, height = chart
        browser.shot('h200-l1-dark.png' if dark else 'h200-l1-light.png', top - 10, height - 42, width, left)  # without the slider below
    browser.emulate()


def main():
    if webdriver is None or not shutil.which('chromium') or not shutil.which('chromedriver'):
        print('SKIPPED: no Chromium and Selenium (./dev test installs chromium, chromium-driver, python3-selenium)')
        return 77
    work = tempfile.mkdtemp()
    browser = Browser()
    try:
        structure = report('cache/structure', 'sim:gtx780', work)
        average = report('cache/average', 'sim:gtx780', work)
        bank = report('shared/bank_stride', 'sim:gtx780', work)
        look(browser, structure, 1, 7)
        work_with(browser, structure)
        browser.run('scrollTo(0, 0)')
        browser.shot('findings.png', 0, 1000)
        look(browser, average, 2, 7)
        look(browser, bank, 1, 0)
        pictures(browser, structure, average)
        of_the_readme(browser, work)
        five_million(browser, work)
        planted(browser, structure, work)
    finally:
        browser.close()
        shutil.rmtree(work)
    print(f'{passed} passed, {failed} failed')
    return 1 if failed else 0


sys.exit(main())
