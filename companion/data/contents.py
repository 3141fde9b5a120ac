"""What the data files hold: the sentences, heads and words that the builder records."""

SENTENCES = {
    # the same word "it", decided by the last word
    "animal_tired": "The animal didn't cross the street because it was too tired.",
    "animal_wide": "The animal didn't cross the street because it was too wide.",
    # a noun with two adjectives
    "creature": "A fluffy blue creature roamed the verdant forest.",
    # one word, three senses
    "mole_animal": "American shrew mole.",
    "mole_chemistry": "One mole of carbon dioxide.",
    "mole_skin": "Take a biopsy of the mole.",
    # a word that its neighbours change, alone and in a carrier sentence
    "tower": "Tower",
    "eiffel_tower": "Eiffel tower",
    "miniature_tower": "Miniature tower",
    "miniature_eiffel_tower": "Miniature Eiffel tower",
    "photo_tower": "She took a photo of the tower.",
    "photo_eiffel_tower": "She took a photo of the Eiffel tower.",
    "photo_miniature_tower": "She took a photo of the miniature tower.",
    "photo_miniature_eiffel_tower": "She took a photo of the miniature Eiffel tower.",
    "thinking_machines": "Thinking machines",
    # one word twice in two senses
    "bank_twice": "She sat on the bank of the river and counted the money from the bank.",
    # the same words in two orders, with a negation
    "dog_cat": "The dog chased the cat, but the cat did not chase the dog.",
    # a long one
    "bees": (
        "When a honey bee has found flowers, she flies home and dances for her sisters in the dark "
        "hive. The angle between her dance and straight up is the angle between the sun and the "
        "flowers; the longer she dances, the farther they are. Her sisters follow and fly there."
    ),
}

# Heads whose matrices are kept, as (layer, head), counted from 0
WHOLE_LAYER = 5
HEADS = (
    (0, 2),  # the previous token
    (0, 3),  # broad: a little of every token
    (1, 8),  # the next token
    (2, 1),  # from "it" to the word that describes it
    (2, 9),  # the same word elsewhere in the sentence
    (3, 1),  # from "it" to the noun that it stands for
    (3, 11),  # punctuation and separators
    (4, 5),  # the first token, [CLS]
    *((WHOLE_LAYER, head) for head in range(12)),
)

# Words run alone through the model: points to compare a word in context with
PROBES = """
animal mammal rat squirrel creature chemistry molecule gram carbon gas skin doctor cancer patient
building castle paris france tall tiny toy model king street road wide tired soft furry blue forest
monster river shore money loan dog cat bee flower
""".split()

# What chapter 7 opens step by step: the shortest recorded sentence of more than one word
OPENED = "thinking_machines"
N_POSITIONS = 32  # position vectors compared with each other
NUMBERS = "one two three four five six seven eight nine ten eleven twelve".split()

# Sentences in which each of 72 heads is removed in turn
REMOVED_IN = ("animal_tired", "animal_wide", "creature", "mole_skin", "bank_twice", "dog_cat")

# Pairs of sentences that differ in the last word only, which decides what "it" is: with the first
# word the first noun, with the second word the second. Invented for this book.
# (sentence, word, other word, first noun, second noun)
PAIRS = (
    ("The ball broke the window because it was too {}.", "hard", "thin", "ball", "window"),
    ("The cup did not fit into the bag because it was too {}.", "big", "small", "cup", "bag"),
    ("The cat caught the mouse because it was {}.", "hungry", "slow", "cat", "mouse"),
    ("The dog could not catch the rabbit because it was too {}.", "slow", "fast", "dog", "rabbit"),
    ("The boat could not pass the bridge because it was too {}.", "tall", "low", "boat", "bridge"),
    ("The key did not open the door because it was {}.", "bent", "stuck", "key", "door"),
    ("The bee left the flower because it was {}.", "full", "empty", "bee", "flower"),
    ("The snake swallowed the egg because it was {}.", "hungry", "small", "snake", "egg"),
    (
        "The horse did not jump over the wall because it was too {}.",
        "weak",
        "high",
        "horse",
        "wall",
    ),
    ("The baby ate the apple because it was so {}.", "hungry", "sweet", "baby", "apple"),
    (
        "The table did not go through the door because it was too {}.",
        "wide",
        "narrow",
        "table",
        "door",
    ),
    ("The rope could not hold the rock because it was too {}.", "thin", "heavy", "rope", "rock"),
    ("The knife did not cut the bread because it was too {}.", "blunt", "hard", "knife", "bread"),
    ("The bird left the tree because it was {}.", "hungry", "dead", "bird", "tree"),
    (
        "The ship could not enter the port because it was too {}.",
        "large",
        "shallow",
        "ship",
        "port",
    ),
    ("The nail went into the wood because it was {}.", "sharp", "soft", "nail", "wood"),
    ("The lamp did not light the room because it was too {}.", "weak", "large", "lamp", "room"),
    ("The wolf followed the sheep because it was {}.", "hungry", "lost", "wolf", "sheep"),
    ("The car could not climb the hill because it was too {}.", "old", "steep", "car", "hill"),
    ("The box fell off the shelf because it was too {}.", "heavy", "narrow", "box", "shelf"),
    ("The rain did not fill the lake because it was too {}.", "short", "deep", "rain", "lake"),
    (
        "The tent did not survive the storm because it was too {}.",
        "weak",
        "strong",
        "tent",
        "storm",
    ),
    (
        "The plant did not grow in the garden because it was too {}.",
        "sick",
        "dark",
        "plant",
        "garden",
    ),
    ("The coat did not fit into the case because it was too {}.", "thick", "small", "coat", "case"),
    (
        "The picture did not cover the hole because it was too {}.",
        "small",
        "large",
        "picture",
        "hole",
    ),
    ("The truck could not use the road because it was too {}.", "heavy", "narrow", "truck", "road"),
)

# Words kept from the vector table, beside the neighbours and the frequent words below
WORDS = """
one two three four five six seven eight nine ten eleven twelve

cat cats dog dogs bird birds horse horses cow cows pig pigs rabbit rabbits lion lions tiger tigers
elephant elephants bee bees flower flowers tree trees apple apples car cars book books house houses
street streets tower towers animal animals creature creatures mole moles river rivers city cities
country countries baby babies berry berries king kings queen queens student students forest forests
foot feet tooth teeth goose geese mouse mice child children man men woman women person people
leaf leaves knife knives wolf wolves ox oxen sheep fish octopus octopuses octopi cactus cacti

france paris germany berlin italy rome spain madrid japan tokyo china beijing russia moscow
england london egypt cairo greece athens poland warsaw austria vienna portugal lisbon norway oslo

mother father son daughter brother sister boy girl prince princess uncle aunt actor actress
husband wife he she him her his

big bigger biggest small smaller smallest tall taller tallest long longer longest
good better best bad worse worst

fluffy furry soft blue red green yellow white black brown grey verdant lush tiny huge large little
tall wide narrow deep dark bright warm cold hot old young happy sad tired hungry quick slow
heavy light loud quiet beautiful

walk walks walked walking run runs ran running eat eats ate eating see sees saw seen
roam roamed cross crossed chase chased fly flies flew take took give gave sleep dance dances

bread cheese milk rice soup sugar salt honey coffee tea banana orange lemon

the a an didn't did not because it was too and of in on to from with but for that this is are
american shrew carbon dioxide biopsy she photo eiffel miniature thinking machines machine
sat bank counted money when has found home sisters hive angle between straight up sun farther
they follow there

rodent mammal rat hedgehog badger burrow fur molecule molecules gram grams atom atoms oxygen
hydrogen chemistry gas liquid skin doctor patient cancer tumor lesion freckle wart surgeon
building castle bridge monument toy model replica sculpture giant skyscraper
shore water loan cash finance computer robot brain mind idea thought
""".split()

# Words whose nearest neighbours in the whole table are kept, so that "nearest" is honest for them
SEEDS = "mole tower eiffel miniature creature fluffy king paris cat bank octopus".split()
NEIGHBOURS = 12
FREQUENT = 150  # the most frequent further words of at least three letters
