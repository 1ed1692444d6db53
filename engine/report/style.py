"""How a page to send looks, and the few lines that let its figures answer to the pointer."""

from __future__ import annotations

_LIGHT = (
    "--page:#f6f7f9;--card:#fff;--line:#dfe3ea;--text:#1b2330;--muted:#5a6475;--accent:#2f5fd0;--b:#a8480c;"
    "--fine:#15704f;--look:#7a6200;--wrong:#b83227;"
)
_DARK = (
    "--page:#14171c;--card:#1b1f26;--line:#2b313b;--text:#e6e9ef;--muted:#8d97a8;--accent:#7aa2ff;--b:#f2a35e;"
    "--fine:#4cc495;--look:#e6d35a;--wrong:#ff7b6b;"
)
STYLE = (
    f":root{{color-scheme:light;{_LIGHT}}}"
    f"@media screen and (prefers-color-scheme:dark){{:root{{color-scheme:dark;{_DARK}}}"
    ".only-light{display:none}.inverted{filter:invert(1) hue-rotate(180deg)}}"
    "@media not (prefers-color-scheme:dark){.only-dark{display:none}}"
    "@media print{.only-dark{display:none}.only-light{display:inline}}"
    """
*{box-sizing:border-box}
body{margin:0;background:var(--page);color:var(--text);
font:15px/1.5 Inter,system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",sans-serif;
font-variant-numeric:tabular-nums;-webkit-text-size-adjust:100%;overflow-wrap:break-word}
main,footer{max-width:72rem;margin:0 auto;padding:0 1.5rem}
main{padding-top:1.75rem}
h1{font-size:1.65rem;line-height:1.25;margin:0 0 .3rem;font-weight:650}
h2{font-size:1.02rem;margin:0 0 .7rem;font-weight:650;display:flex;gap:1rem;align-items:baseline}
h3{font-size:.9rem;margin:1rem 0 .4rem;font-weight:600}
.hint{margin-left:auto;font-weight:400;color:var(--muted);font-size:.87rem;text-align:right}
p{margin:.4rem 0}
.sentence{font-size:1.05rem;color:var(--muted);margin-bottom:1.2rem}
.quiet,footer{color:var(--muted);font-size:.87rem}
.fine,.look,.wrong{padding-left:1.3em;position:relative}
.fine::before,.look::before,.wrong::before{position:absolute;left:0;font-weight:700}
.fine::before{content:"\\2713";color:var(--fine)}.look::before{content:"\\25B3";color:var(--look)}
.wrong::before{content:"\\2715";color:var(--wrong)}
section{background:var(--card);border:1px solid var(--line);border-radius:8px;
padding:1rem 1.1rem;margin:0 0 .9rem}
section section{border:0;padding:.4rem 0 0;margin:0}
.keys{display:flex;flex-wrap:wrap;gap:.6rem 2.4rem;margin:.2rem 0 .8rem}
.key span{display:block;color:var(--muted);font-size:.84rem}
.key b{font-size:1.9rem;line-height:1.25;font-weight:650}
.wide{overflow-x:auto}
table{border-collapse:collapse;font-size:.89rem;margin:.2rem 0}
th,td{padding:.28rem .8rem .28rem 0;text-align:left;vertical-align:top;border-bottom:1px solid var(--line)}
th{color:var(--muted);font-weight:500}
td.n,th.n{text-align:right;white-space:nowrap}
tr>:last-child{padding-right:0}
figure{margin:.3rem 0 .9rem}
figure svg{display:block;max-width:100%;height:auto;outline-offset:3px}
figure svg text{font-family:Inter,system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",sans-serif}
figure svg:focus-visible{outline:2px solid var(--accent)}
figcaption dl{font-size:.82rem;color:var(--muted)}
.mark{fill:transparent;stroke:none;pointer-events:all}
.mark.on,.mark:hover{stroke:var(--accent);stroke-width:1.5}
dl{display:grid;grid-template-columns:max-content 1fr;gap:.15rem 1.2rem;margin:.4rem 0}
dt{color:var(--muted)}dd{margin:0;min-width:0}
blockquote{margin:.5rem 0;padding:.5rem .9rem;border-left:3px solid var(--accent);white-space:pre-wrap}
blockquote span{display:block;color:var(--muted);font-size:.82rem}
pre{white-space:pre-wrap;overflow-wrap:anywhere;background:var(--page);border:1px solid var(--line);
border-radius:6px;padding:.6rem .8rem;margin:.3rem 0;font-size:.85rem}
details{margin:.4rem 0}summary{color:var(--muted);cursor:pointer;font-size:.87rem}
.weighed{font-size:1.05rem;line-height:2}
.weighed span{position:relative;border-radius:4px;padding:.1em .15em}
.weighed .for{background:color-mix(in srgb,var(--accent) calc(var(--w)*55%),transparent);
border-bottom:2px solid color-mix(in srgb,var(--accent) calc(var(--w)*100%),transparent)}
.weighed .against{background:color-mix(in srgb,var(--b) calc(var(--w)*55%),transparent);
border-bottom:2px dashed color-mix(in srgb,var(--b) calc(var(--w)*100%),transparent)}
.weighed i{display:none}
#tip{position:fixed;z-index:9;max-width:24rem;padding:.35rem .6rem;border-radius:6px;font-size:.85rem;
background:var(--text);color:var(--card);pointer-events:none;white-space:pre-line}
#tip[hidden]{display:none}
footer{padding-bottom:2rem}
.axis{stroke:var(--line);stroke-width:1}.ink{fill:var(--text)}.soft{fill:var(--muted)}
.a{fill:var(--accent);stroke:var(--accent)}.other{fill:var(--muted);stroke:var(--muted)}
.second{fill:var(--b);stroke:var(--b)}.line{fill:none;stroke-width:1.8}
.cell{fill:var(--accent)}.cell.error{fill:var(--b)}
@media (max-width:640px){main,footer{padding-left:.8rem;padding-right:.8rem}
section{padding:.8rem}dl{grid-template-columns:1fr;gap:0}dd{margin-bottom:.35rem}h2{flex-wrap:wrap}}
@media print{body{background:#fff;font-size:10.5pt}main{padding:0;max-width:none}
section{break-inside:auto;border-color:#bbb}figure,tr,.keys,blockquote,pre{break-inside:avoid}
h2,h3{break-after:avoid}.wide{overflow:visible}#tip{display:none}}
"""
)
SCRIPT = """
(function(){
var tip=document.getElementById('tip'),on=null;
document.querySelectorAll('.mark,.weighed span').forEach(function(mark){
 var said=mark.querySelector('title,i');
 if(said){mark.dataset.tip=said.textContent;said.remove();}
});
function show(mark,x,y){
 if(on){on.classList.remove('on');}
 on=mark;
 if(!mark){tip.hidden=true;return;}
 mark.classList.add('on');tip.textContent=mark.dataset.tip;tip.hidden=false;
 var w=tip.offsetWidth,h=tip.offsetHeight;
 tip.style.left=Math.max(4,Math.min(x+14,innerWidth-w-4))+'px';
 tip.style.top=(y+18+h>innerHeight?Math.max(4,y-h-10):y+18)+'px';
}
function at(target){return target&&target.closest?target.closest('[data-tip]'):null;}
function beside(mark){var box=mark.getBoundingClientRect();show(mark,box.right-8,box.bottom-14);}
document.addEventListener('pointermove',function(event){show(at(event.target),event.clientX,event.clientY);});
document.addEventListener('pointerdown',function(event){show(at(event.target),event.clientX,event.clientY);});
document.addEventListener('focusin',function(event){
 var mark=at(event.target);if(mark&&event.target.matches(':focus-visible')){beside(mark);}});
document.addEventListener('focusout',function(){show(null);});
document.addEventListener('keydown',function(event){
 var figure=event.target.closest&&event.target.closest('svg');
 if(event.key==='Escape'){show(null);return;}
 if(!figure){return;}
 var marks=Array.from(figure.querySelectorAll('.mark')),place=marks.indexOf(on);
 var step={ArrowRight:1,ArrowDown:1,ArrowLeft:-1,ArrowUp:-1}[event.key];
 if(!step||!marks.length){return;}
 event.preventDefault();
 beside(marks[Math.max(0,Math.min(marks.length-1,place<0?0:place+step))]);
});
})();
"""
